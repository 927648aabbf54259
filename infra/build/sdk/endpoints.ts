import { dnsSuffix } from '#platform/store/aws.ts';

interface Parameters {
  /** Of `AWS_ENDPOINT_URL`, when there is one. */
  Endpoint?: string;
  Region?: string;
  UseFIPS?: boolean;
  UseDualStack?: boolean;
}

/** Where a service is: what the SDK's rules come to for the three that are called, without their 20 KB of tables. */
const resolver =
  (service: string) =>
  ({ Endpoint, Region = '', UseFIPS, UseDualStack }: Parameters) => {
    if (UseDualStack && !Endpoint)
      throw new Error('dual-stack endpoints are left out of the bundles (infra/build/sdk.ts)');
    const host = `${service}${UseFIPS ? '-fips' : ''}.${Region}.${dnsSuffix(Region)}`;
    return { url: new URL(Endpoint ?? `https://${host}`), properties: {}, headers: {} };
  };

export const dynamodb = resolver('dynamodb');
export const sfn = resolver('states');
export const ecs = resolver('ecs');
