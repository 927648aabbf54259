import { dnsSuffix } from '#platform/store/aws.ts';

interface Parameters {
  /** From `AWS_ENDPOINT_URL`, if set. */
  Endpoint?: string;
  Region?: string;
  UseFIPS?: boolean;
  UseDualStack?: boolean;
}

/** URL of a service: the result of the SDK's rules for the three services in use, without their 20 KB of tables. */
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
