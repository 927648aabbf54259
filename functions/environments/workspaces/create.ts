import * as v from 'valibot';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import type { User } from '#resources/users/user.ts';
import { getUser } from '#resources/users/users.ts';
import { type Rights, rightsIn } from '../access.ts';
import { nameOfEnvironment } from '../audit/build-record.ts';
import { matchingPreset, resolveParameters, type Value } from '../builds/parameters.ts';
import { resolved } from '../builds/resolved.ts';
import { created } from '../host/answers.ts';
import { idField, listOf, nameField, nameValue, readBody } from '../host/body.ts';
import { CoderError, forbidden, notFound } from '../host/errors.ts';
import { audited, type Call, type Route, refused, route } from '../host/route.ts';
import { presentUuid } from '../host/uuid.ts';
import { findOrganization, findPerson } from '../people/users.ts';
import { type Claim, claimPrebuild } from '../prebuilds/claim.ts';
import { hasPool } from '../prebuilds/pool.ts';
import { checkImported } from '../templates/imported.ts';
import type { Preset } from '../templates/plan.ts';
import { getTemplate, type Template } from '../templates/records.ts';
import { getFound, getVersion, type Version } from '../templates/versions.ts';
import { describe } from './finder.ts';
import { checkSchedule, checkTtl } from './input.ts';
import { firstBuild, insertEnvironment } from './insert.ts';
import { type Environment, findEnvironment, getEnvironment } from './records.ts';

/** Creates environments. */

const body = v.object({
  template_id: idField,
  template_version_id: idField,
  name: nameField('workspace_name'),
  autostart_schedule: v.nullish(v.string()),
  ttl_ms: v.nullish(v.number()),
  rich_parameter_values: listOf(nameValue),
  automatic_updates: v.nullish(v.picklist(['always', 'never', ''], 'Validation failed for tag "oneof"')),
  template_version_preset_id: idField,
  enable_dynamic_parameters: v.nullish(v.boolean()),
  claim_prebuild_if_available: v.nullish(v.boolean()),
});

type Body = v.InferOutput<typeof body>;

const nameTaken = (name: string) =>
  new CoderError(409, `Workspace "${name}" already exists.`, undefined, [
    { field: 'name', detail: 'This value is already in use and should be unique.' },
  ]);

interface Chosen {
  template: Template;
  version: Version;
  rights: Rights;
}

const choose = async (call: Call, input: Body): Promise<Chosen> => {
  const templateId = presentUuid(input.template_id);
  const versionId = presentUuid(input.template_version_id);
  if ((templateId === undefined) === (versionId === undefined)) {
    throw new CoderError(400, 'Validation failed.', undefined, [
      { field: 'template_id', detail: 'Exactly one of template_id and template_version_id must be set' },
    ]);
  }
  const named = versionId === undefined ? undefined : await getVersion(versionId);
  const id = templateId ?? named?.templateId;
  const template = id === undefined ? undefined : await getTemplate(id);
  const rights = template && (await rightsIn(call.principal, template));
  if (!template || !rights?.read) {
    throw new CoderError(
      400,
      `Template ${templateId ?? versionId} not found.`,
      'It does not exist, or you have no access to it.',
    );
  }
  const version = named ?? (await getVersion(template.activeVersionId));
  return { template, version: version as Version, rights };
};

const auditAction = { type: 'workspace', action: 'create' };

const checkMay = async (call: Call, { template, version, rights }: Chosen, owner: User): Promise<void> => {
  const isOwn = owner.id === call.principal.userId;
  if (!rights.create || !(isOwn || rights.manage)) {
    throw await refused(call, template.organization, auditAction, forbidden('Unauthorized to create workspace.'));
  }
  if (!isOwn && !(await rightsIn(grantsOfUser(owner.id), template)).create) {
    throw new CoderError(
      403,
      'Unauthorized to create workspace.',
      `${owner.username} may not create environments from template "${template.name}".`,
    );
  }
  if (template.deprecationMessage) {
    throw new CoderError(
      400,
      `Template "${template.name}" has been deprecated, and cannot be used to create a new workspace.`,
      template.deprecationMessage,
    );
  }
  if (template.requireActiveVersion && version.id !== template.activeVersionId && !rights.manage) {
    throw await refused(call, template.organization, auditAction, forbidden('insert workspace build'));
  }
  if (version.archived) throw new CoderError(400, 'Archived template versions cannot be used to make a workspace.');
};

const chooseParameters = async (input: Body, version: Version): Promise<{ parameters: Value[]; preset?: Preset }> => {
  const { parameters, presets } = await getFound(version.id);
  const requested = input.rich_parameter_values ?? [];
  const presetId = presentUuid(input.template_version_preset_id);
  const preset = presets.find(({ id }) => id === presetId);
  if (presetId !== undefined && !preset)
    throw new CoderError(400, 'The preset does not belong to the template version.');
  const values = resolved(() => resolveParameters({ parameters, requested, preset }));
  return { parameters: values, preset: preset ?? matchingPreset(presets, values) };
};

const settingsIn = (
  input: Body,
  template: Template,
): Pick<Environment, 'autostartSchedule' | 'ttlMs' | 'automaticUpdates'> => {
  const { autostart_schedule: autostart, ttl_ms: ttl } = input;
  if (autostart) checkSchedule(autostart, template, 'Invalid Autostart Schedule.', 'schedule');
  if (ttl) checkTtl(ttl, template, 'Invalid Workspace Time to Shutdown.');
  const ttlMs = ttl ? ttl - (ttl % 60_000) : ttl === undefined || ttl === null ? template.defaultTtlMs : 0;
  return {
    autostartSchedule: autostart || undefined,
    ttlMs: ttlMs || undefined,
    automaticUpdates: input.automatic_updates || 'never',
  };
};

const post = async (call: Call) => {
  const owner = await findPerson(call, call.request.params.user ?? '');
  if (!owner) throw notFound();
  const input = readBody(call.request, body);
  const chosen = await choose(call, input);
  await checkMay(call, chosen, owner);
  const { template } = chosen;
  const settings = settingsIn(input, template);
  if (await findEnvironment(owner.id, input.name)) throw nameTaken(input.name);
  const version = await checkImported(chosen.version);
  const { parameters, preset } = await chooseParameters(input, version);
  const user = await getUser(call.principal.userId);
  const initiator = { id: call.principal.userId, username: user?.username ?? '' };
  const name = nameOfEnvironment({ ownerName: owner.username, name: input.name });
  return audited(call, template.organization, { ...auditAction, name }, async () => {
    const claim = { template, version, parameters, owner, name: input.name, settings, initiator };
    const fromPool = version.id === template.activeVersionId && preset && hasPool(preset);
    const claimed = fromPool ? await claimPrebuild({ ...claim, preset }, () => nameTaken(input.name)) : undefined;
    const id = claimed ?? (await make(claim, preset?.id));
    return created(await describe(call, (await getEnvironment(id)) as Environment));
  });
};

/** @returns id of the environment */
const make = async (
  { template, version, parameters, owner, name, settings, initiator }: Omit<Claim, 'preset'>,
  presetId: string | undefined,
): Promise<string> => {
  const environment = await insertEnvironment({ template, name, owner, settings, by: initiator.id });
  if (environment === 'name taken') throw nameTaken(name);
  if (environment === 'no template') throw notFound();
  const first = {
    transition: 'start' as const,
    template,
    version,
    parameters,
    presetId,
    reason: 'initiator',
    initiator,
  };
  await firstBuild(environment, initiator.id, first);
  return environment.id;
};

const postInOrganization = async (call: Call) => {
  if (!(await findOrganization(call, call.request.params.organization ?? ''))) throw notFound();
  return post(call);
};

export const createEnvironmentRoutes: Route[] = [
  route('POST', '/users/{user}/workspaces', post),
  route('POST', '/organizations/{organization}/members/{user}/workspaces', postInOrganization),
];
