import { CoderError } from './errors.ts';

/**
 * Parts of Coder's API that this platform does not provide, and their replacements. Coder's command line prints the
 * message in place of an unexplained 404.
 */
const features: [RegExp, string][] = [
  [/^POST \/users$/, 'Users are not created here. Invite them to the organization on the platform’s page.'],
  [
    /^(DELETE|PUT) \/users\/[^/]+(\/(status|password|roles|profile|appearance|preferences|login-type).*)?$/,
    'User accounts are not changed here. People manage their own on the platform’s page; owners remove members there.',
  ],
  [/\/gitsshkey$/, 'Users have no Git SSH keys here. Give SSH keys to the organization on the platform’s page.'],
  [
    /^\w+ \/organizations\/[^/]+\/members(\/|$)/,
    'Members of an organization are not managed here, but on the platform’s page (Users, Teams).',
  ],
  [
    /^(POST|PUT|PATCH|DELETE) \/(organizations(\/[^/]+)?|organizations\/[^/]+\/groups|groups\/.*)$/,
    'Organizations and groups are not changed here. Groups are the teams of the platform’s page.',
  ],
  [
    /\/(provisionerdaemons|provisionerkeys|provisionerjobs)(\/|$)/,
    'There are no provisioner daemons. Builds run in the platform’s runners, or in agent pools (stepform agent).',
  ],
  [
    /\/(notifications|inbox|webpush)(\/|$)/,
    'Coder’s notifications are not provided. Workspaces of environments have notifications of their own on the platform’s page.',
  ],
  [
    /\/(workspaceagents|workspaceproxies|derp-map|tailnet|debug|regions|applications|connectionlog|deployment\/ssh|port-share|port-shares)(\/|$)/,
    'Agents, and connections to them, are not provided. Connect to an environment’s resources directly.',
  ],
  [/\/(external-auth|oauth2-provider|oauth2)(\/|$)/, 'External authentication is not provided.'],
  [/\/dynamic-parameters(\/|$)/, 'Dynamic parameters are not provided.'],
  [/\/(licenses|scim|settings|deployment|replicas|insights|tasks|aitasks|aibridge|acl)(\/|$)/, ''],
];

/** @param path with the prefix of the API, e.g. `/api/v2/users` */
export const notServed = (method: string, path: string): CoderError => {
  const own = `${method} ${path.replace(/^\/api\/(v2|experimental)/, '')}`;
  const feature = features.find(([pattern]) => pattern.test(own));
  if (!feature) return new CoderError(404, 'Route not found.');
  return new CoderError(404, feature[1] || `${path} is not provided by this platform.`);
};
