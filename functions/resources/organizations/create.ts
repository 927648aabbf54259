import { withPoolUse } from '../agent-pools/uses.ts';
import { addMember, getMembership } from '../people/accounts/memberships.ts';
import { getOrganization, type Organization, type OrganizationSettings } from '../people/organizations/records.ts';
import { ensureOwnersTeam } from '../people/teams/records.ts';
import { addProject } from '../projects/records.ts';
import { asEdit, type Editor } from '../store/edits.ts';
import { newId } from '../store/id.ts';
import { keys } from '../store/keys.ts';
import { create, update } from '../store/table.ts';

/**
 * Creates it with its default project and `createdBy` as owner. Undefined when the name is taken, by one that was deleted
 * too; a creator who was cut off may repeat it.
 */
export const createOrganization = async (
  name: string,
  settings: OrganizationSettings,
  createdBy: string,
  { isOperators }: Pick<Organization, 'isOperators'> = {},
): Promise<Organization | undefined> => {
  const newOrganization: Organization = {
    ...settings,
    isOperators,
    name,
    externalId: newId('org'),
    createdAt: new Date().toISOString(),
    createdBy,
    defaultProjectId: newId('prj'),
  };
  const created = await create({ ...keys.organization(name), ...newOrganization });
  const organization = created ? newOrganization : await getOrganization(name);
  if (!organization || organization.createdBy !== createdBy) return undefined;
  if (!created && (await getMembership(createdBy, name))) return undefined;
  await addProject({
    id: organization.defaultProjectId,
    organization: name,
    name: 'Default Project',
    description: null,
    createdAt: organization.createdAt,
    defaultExecutionMode: organization.defaultExecutionMode,
  });
  await addMember(name, createdBy, 'owner');
  await ensureOwnersTeam(organization);
  return organization;
};

/** Undefined when it is gone, or is not as the editor has seen it. */
export const updateOrganization = (
  { name, defaultAgentPoolId: from }: Organization,
  change: Partial<OrganizationSettings>,
  editor: Editor,
): Promise<Organization | undefined> => {
  const to = 'defaultAgentPoolId' in change ? change.defaultAgentPoolId : from;
  const edit = asEdit({ set: change, condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)' }, editor);
  return withPoolUse(name, { from, to }, () => update<Organization>(keys.organization(name), edit));
};
