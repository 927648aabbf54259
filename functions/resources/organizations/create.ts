import { asEdit, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { create } from '#platform/store/table.ts';
import { claimUnique } from '#platform/store/unique-names.ts';
import { withPoolUse } from '#resources/agents/pools/uses.ts';
import { addProject } from '#resources/projects/records.ts';
import { ensureOwnersTeam } from '#resources/teams/records.ts';
import { addMember, getMembership } from '#resources/users/memberships.ts';
import { getOrganization, isNameTaken, type Organization, type OrganizationSettings } from './records.ts';

/**
 * Creates the organization with its default project and with `createdBy` as owner. Undefined when the name was ever
 * used, even in other upper or lower case. The creator can repeat an interrupted creation.
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
  if (!(await claimUnique(keys.organizationName(name), name, isNameTaken))) return undefined;
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

/** Undefined when it is deleted, or changed since the editor read it. */
export const updateOrganization = (
  { name, defaultAgentPoolId: from }: Organization,
  change: Partial<OrganizationSettings>,
  editor: Editor,
): Promise<Organization | undefined> => {
  const to = 'defaultAgentPoolId' in change ? change.defaultAgentPoolId : from;
  const edit = asEdit({ set: change }, editor);
  return withPoolUse(name, { from, to }, () => updateRecord<Organization>(keys.organization(name), edit));
};
