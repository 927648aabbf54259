import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The environment of every function, read in this file and nowhere else. A function has only what it needs. */

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`environment variable ${name} is not set`);
  return value;
};

/** Services that are called without the AWS SDK; it reads the same variables for the others. */
type PlainService = 'S3' | 'KMS' | 'PRICING';

/** Getters, so that a function without, say, a bucket never trips over its absence. */
export const environment = {
  get region() {
    return required('AWS_REGION');
  },
  /** What Lambda gives every function; `sessionToken` is absent for long-lived keys only. */
  get credentials() {
    return {
      accessKeyId: required('AWS_ACCESS_KEY_ID'),
      secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
      sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
    };
  },
  /** Where a service is, when not in AWS: the SDKs' own variables. Without a slash at the end. */
  endpoint(service: PlainService): string | undefined {
    const url = process.env[`AWS_ENDPOINT_URL_${service}`] || process.env.AWS_ENDPOINT_URL;
    return url?.replace(/\/+$/, '');
  },
  /** How often a call to AWS is tried; the variable is the SDKs' own. */
  get maxAttempts() {
    return Number(process.env.AWS_MAX_ATTEMPTS || 4);
  },
  get tableName() {
    return required('TABLE_NAME');
  },
  get bucketName() {
    return required('BUCKET_NAME');
  },
  get keyArn() {
    return required('KEY_ARN');
  },
  get stateMachineArn() {
    return required('STATE_MACHINE_ARN');
  },
  /** Base URL of the HTTP API, without a slash at the end; for the runner's container. */
  get publicUrl() {
    return required('PUBLIC_URL');
  },
  /** Ranges of inside addresses that people's URLs may lead to, beside the internet. */
  get outboundAllowedCidrs() {
    return (process.env.OUTBOUND_ALLOWED_CIDRS ?? '').split(',').filter(Boolean);
  },
  get clusterArn() {
    return required('CLUSTER_ARN');
  },
  get taskDefinitionArn() {
    return required('TASK_DEFINITION_ARN');
  },
  get containerName() {
    return required('CONTAINER_NAME');
  },
  get subnets() {
    return required('SUBNETS').split(',');
  },
  get securityGroups() {
    return required('SECURITY_GROUPS').split(',');
  },
  get engine() {
    return required('TERRAFORM_ENGINE') === 'tofu' ? ('tofu' as const) : ('terraform' as const);
  },
  get holdSeconds() {
    return Number(required('HOLD_SECONDS'));
  },
  get heartbeatSeconds() {
    return Number(required('HEARTBEAT_SECONDS'));
  },
  /** Folders in which programs are looked for; on AWS those of layers are among them. */
  get searchPath() {
    return [...(process.env.PATH ?? '').split(delimiter), '/opt/bin'].filter(Boolean);
  },
  /** Where downloaded programs are kept; on AWS for the life of the function's instance. */
  get cacheDirectory() {
    return process.env.STEPFORM_CACHE || join(tmpdir(), 'stepform');
  },
  /** Where releases of OPA are found; a mirror has the same layout. Checksums are checked all the same. */
  get opaReleases() {
    return process.env.STEPFORM_OPA_RELEASES || 'https://github.com/open-policy-agent/opa/releases/download';
  },
};
