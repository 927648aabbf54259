import type { Application } from '#infra/local/assembly/site.ts';
import type { Template, TemplateResource } from '#infra/local/host/template.ts';

/**
 * The application in the middle of a deployment: CloudFormation replaces each function with its settings and rights on
 * its own, and removes former resources only at the end.
 */

const isFunction = ({ Type }: TemplateResource): boolean => Type === 'AWS::Lambda::Function';

const roleIdOf = ({ Properties }: TemplateResource): string =>
  (Properties?.Role as { 'Fn::GetAtt'?: [string, string] } | undefined)?.['Fn::GetAtt']?.[0] ?? '';

/** Logical ids of functions that both versions have. */
export const functionsOfBoth = (former: Application, present: Application): string[] =>
  Object.entries(present.template.Resources)
    .filter(([id, resource]) => isFunction(resource) && present.bundleOf(id) && former.bundleOf(id))
    .map(([id]) => id)
    .sort();

/**
 * @param notYet logical ids of the functions that are still the former ones
 * @param machine whose state machine it has
 */
export const halfUpgraded = (
  former: Application,
  present: Application,
  notYet: ReadonlySet<string>,
  machine: 'former' | 'present',
): Application => {
  const resources: Template['Resources'] = { ...present.template.Resources };
  for (const [id, resource] of Object.entries(former.template.Resources)) {
    const isMachine = resource.Type === 'AWS::StepFunctions::StateMachine' && machine === 'former';
    const isRemovedLater = isFunction(resource) && !resources[id] && former.bundleOf(id) !== undefined;
    if (!notYet.has(id) && !isMachine && !isRemovedLater) continue;
    resources[id] = resource;
    const roleId = roleIdOf(resource);
    const role = former.template.Resources[roleId];
    if (role && !isMachine) resources[roleId] = role;
  }
  return {
    template: { ...present.template, Resources: resources },
    bundleOf: (id) => (notYet.has(id) ? former : present).bundleOf(id) ?? former.bundleOf(id),
    runner: (machine === 'former' ? former : present).runner,
  };
};
