import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { unset } from '#infra/local/aws/lambda/function-settings.ts';
import type { FunctionProperties } from '#infra/local/aws/lambda/lambda.ts';
import type { Resource } from '#infra/local/host/template.ts';
import type { WarmRunners } from '#run/warm-runners.ts';
import type { Application, Site } from './site.ts';

/**
 * While users try things out, their run tasks and sign-in issuer may be on this machine. On AWS, loopback is inside the
 * function, and the issuer's secret is in Parameter Store.
 */
export const onThisMachine = (
  resource: Resource<FunctionProperties>,
  { application, functionSettings }: Site,
): Resource<FunctionProperties> => {
  const { Variables = {} } = resource.properties.Environment ?? {};
  const changed = { ...Variables };
  // Runners on this machine call the platform directly, not through the proxy in front of it.
  const startsRunners = Variables.CLUSTER_ARN !== undefined;
  for (const [name, value] of Object.entries({ ...unset, ...functionSettings }))
    if (Variables[name] !== undefined && !(name === 'PUBLIC_URL' && startsRunners)) changed[name] = value;
  if (changed.WARM_RUNNERS) changed.WARM_RUNNERS = withVersion(changed.WARM_RUNNERS, application);
  if (Variables.OUTBOUND_ALLOWED_CIDRS !== undefined) {
    const ranges = ['127.0.0.0/8', '::1/128', Variables.OUTBOUND_ALLOWED_CIDRS];
    changed.OUTBOUND_ALLOWED_CIDRS = ranges.filter(Boolean).join(',');
  }
  return { ...resource, properties: { ...resource.properties, Environment: { Variables: changed } } };
};

/** There is one task definition here, for any program. */
const withVersion = (warmRunners: string, { runner }: Application): string => {
  const version = createHash('sha256').update(readFileSync(runner)).digest('hex');
  return JSON.stringify({ ...(JSON.parse(warmRunners) as WarmRunners), version });
};
