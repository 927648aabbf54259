import type { Difference } from '#clients/client/text/plan.ts';
import { count } from '#clients/client/text/time.ts';
import { typeOf } from './plan-totals.ts';

/** What a reviewer of a plan should see first. */

/** Resources that grant access, or that shape the network. */
export type Area = 'access' | 'network';

/** Words in names of types instead of a list of types: providers name such resources alike. */
const words: readonly (readonly [Area, RegExp])[] = [
  ['access', /^(?:azuread|okta|auth0|keycloak)_|^aws_(?:ssoadmin|identitystore|organizations)_/],
  ['access', /_(?:iam|roles?|users?|permissions?|grants?)(?:_(?!pool)|$)/],
  [
    'access',
    /_(?:access_(?:key|policy|block|entry)|service_account|assigned_identity|identity_credential|collaborator)/,
  ],
  [
    'access',
    /_(?:bucket|queue|topic|key|repository|registry|secret|vault|domain|endpoint|file_system)_(?:acl|policy)$/,
  ],
  ['network', /_(?:network|subnet|firewall|route|vpc|vnet|vpn)/],
  [
    'network',
    /_(?:nat|dns|eip|lb|alb|elb|peering|security_(?:group|list)|load_?balancer|target_group|listener|ingress|record|zone)(?:_|$)/,
  ],
  ['network', /(?<!_api)_gateway(?:_|$)|_(?:address|public_ip|private_endpoint)(?:_|$)/],
];

/** `aws_iam_role` → `access`; undefined for other types. */
export const areaOf = (type: string): Area | undefined => words.find(([, pattern]) => pattern.test(type))?.[0];

/** The area that a change concerns; undefined without a change of the resource. */
export const areaIn = ({ address, kind }: Difference): Area | undefined =>
  ['create', 'update', 'replace', 'destroy'].includes(kind) ? areaOf(typeOf(address)) : undefined;

/** `3 destroys`, `2 IAM changes`; empty without risks. */
export const risksOf = (differences: Difference[]): string[] => {
  const numberOf = (counts: (difference: Difference) => boolean) => differences.filter(counts).length;
  const found = [
    [numberOf(({ kind }) => kind === 'destroy'), 'destroy'],
    [numberOf(({ kind }) => kind === 'replace'), 'replacement'],
    [numberOf((difference) => areaIn(difference) === 'access'), 'IAM change'],
    [numberOf((difference) => areaIn(difference) === 'network'), 'network change'],
  ] as const;
  return found.flatMap(([number, what]) => (number ? [count(number, what)] : []));
};
