import * as v from 'valibot';
import { environment as settings } from '#platform/environment.ts';
import { getUser } from '#resources/users/users.ts';
import { isOwner } from '../access.ts';
import { nameOfEnvironment } from '../audit/build-record.ts';
import { created } from '../host/answers.ts';
import { idField, listOf, nameValue, readBody } from '../host/body.ts';
import { CoderError, forbidden } from '../host/errors.ts';
import { type AuditedAction, audited, type Call, refused } from '../host/route.ts';
import { presentUuid } from '../host/uuid.ts';
import { checkImported } from '../templates/imported.ts';
import type { Template } from '../templates/records.ts';
import { getFound, getVersion, type Version } from '../templates/versions.ts';
import { byId, latestOf, templateOf } from '../workspaces/finder.ts';
import type { Environment } from '../workspaces/records.ts';
import { build } from './create.ts';
import { buildDocument } from './document.ts';
import { matchingPreset, resolveParameters } from './parameters.ts';
import { type Build, getBuild, type Restart, type Transition } from './records.ts';
import { resolved } from './resolved.ts';
import { settleBuild } from './settle.ts';
import { checkState } from './state.ts';

/** Checks of a requested build, in the same order as Coder's own server. */

const reasons = ['dashboard', 'cli', 'ssh_connection', 'vscode_connection', 'jetbrains_connection', ''] as const;

/** What a build is made of. */
const content = {
  template_version_id: idField,
  rich_parameter_values: listOf(nameValue),
  template_version_preset_id: idField,
  reason: v.nullish(v.picklist(reasons)),
};

const body = v.object({
  ...content,
  transition: v.picklist(
    ['start', 'stop', 'delete'],
    (issue) => `Validation failed for tag "oneof" with value: ${JSON.stringify(issue.input)}`,
  ),
  dry_run: v.nullish(v.boolean()),
  state: v.nullish(v.pipe(v.string(), v.base64())),
  orphan: v.nullish(v.boolean()),
  log_level: v.nullish(v.picklist(['debug', ''])),
  // Not in Coder's API, whose clients stop, wait and start.
  restart: v.nullish(v.object(content)),
});

type Body = v.InferOutput<typeof body>;
type Content = Pick<Body, 'transition' | keyof typeof content>;

/** The maximum that reaches a function (api/limits.ts). */
export const maxBuildBytes = 4_500_000;

const versionFor = async (input: Content, template: Template, latest: Build): Promise<Version> => {
  const id = presentUuid(input.template_version_id) ?? latest.versionId;
  const version = await getVersion(id);
  if (version?.templateId !== template.id) {
    throw new CoderError(400, "template version doesn't match template");
  }
  // The version of the latest build was imported before that build.
  return id === latest.versionId ? version : checkImported(version);
};

const checkBody = (input: Body): void => {
  if (input.dry_run) throw new CoderError(400, 'dry_run is not supported: use a dry run of the template version.');
  if (input.orphan && input.transition !== 'delete') {
    throw new CoderError(400, 'Orphan is only permitted when deleting a workspace.');
  }
  if (input.restart && input.transition !== 'stop') {
    throw new CoderError(400, 'A restart is only permitted when stopping a workspace.');
  }
  if (input.orphan && input.state) {
    throw new CoderError(400, 'ProvisionerState cannot be set alongside Orphan since state intent is unclear.');
  }
};

const parametersFor = async (input: Content, version: Version, latest: Build) => {
  const requested = input.rich_parameter_values ?? [];
  if (input.transition !== 'start' && requested.length === 0) return { parameters: latest.parameters };
  const { parameters, presets } = await getFound(version.id);
  const presetId = presentUuid(input.template_version_preset_id);
  const preset = presets.find(({ id }) => id === presetId);
  if (presetId !== undefined && !preset)
    throw new CoderError(400, 'The preset does not belong to the template version.');
  const values = resolved(() => resolveParameters({ parameters, requested, previous: latest.parameters, preset }));
  return { parameters: values, presetId: preset?.id ?? matchingPreset(presets, values)?.id };
};

const reasonOf = ({ reason }: Pick<Content, 'reason'>): string => reason || 'initiator';

const restartFor = async (
  requested: Omit<Content, 'transition'>,
  template: Template,
  latest: Build,
): Promise<Restart> => {
  const input = { ...requested, transition: 'start' } as const;
  const version = await versionFor(input, template, latest);
  return { versionId: version.id, ...(await parametersFor(input, version, latest)), reason: reasonOf(input) };
};

const stateIn = (input: Body): Buffer | undefined => {
  if (!input.state) return undefined;
  const state = Buffer.from(input.state, 'base64');
  checkState(state);
  return state;
};

const auditedActionOf = (transition: Transition, environment: Environment): AuditedAction => ({
  type: 'workspace_build',
  action: transition,
  id: environment.id,
  name: nameOfEnvironment(environment),
});

/** The debug log contains requests and responses of providers: only owners may request it. @throws {CoderError} */
const checkLogLevel = async ({ principal }: Call, organization: string): Promise<void> => {
  if (!(await isOwner(principal, organization)))
    throw new CoderError(
      400,
      'Workspace builds with a custom log level are restricted to administrators only.',
      'log_level: debug is for owners of the organization.',
    );
  if (!settings.environmentsDebug)
    throw new CoderError(
      400,
      'Terraform debug mode is disabled in the deployment configuration.',
      'log_level: debug needs the setting environmentDebug (STEPFORM_ENVIRONMENT_DEBUG=true on one machine).',
    );
};

export const postBuild = async (call: Call) => {
  const { environment, rights, mayChange } = await byId(call);
  const input = readBody(call.request, body);
  const { transition } = input;
  const refuse = (error: CoderError) =>
    refused(call, environment.organization, auditedActionOf(transition, environment), error);
  if (environment.deletedAt) throw new CoderError(409, `Cannot ${transition} a deleted workspace!`);
  checkBody(input);
  const word = transition === 'delete' ? 'delete' : 'update';
  if (!mayChange) throw await refuse(forbidden(`You do not have permission to ${word} this workspace.`));
  // Starting requires the same right as an automatic start; users who lost it can still stop and delete their
  // environments.
  const starts = transition === 'start' || input.restart != null;
  if (starts && !rights.create) {
    throw await refuse(forbidden('Starting this workspace takes the permission to plan runs in its project.'));
  }
  if ((input.state || input.orphan) && !rights.manage) {
    throw await refuse(forbidden('Only template managers may provide custom state'));
  }
  if (input.log_level) await checkLogLevel(call, environment.organization);
  const [{ build: latest }, template] = await Promise.all([latestOf(environment), templateOf(environment)]);
  const version = await versionFor(input, template, latest);
  const { parameters, presetId } = await parametersFor(input, version, latest);
  // Checked before the environment stops.
  const restart = input.restart ? await restartFor(input.restart, template, latest) : undefined;
  const startVersion = restart?.versionId ?? version.id;
  const needsActive = template.requireActiveVersion && starts && !rights.manage;
  if (needsActive && startVersion !== template.activeVersionId) throw await refuse(forbidden('insert workspace build'));
  const state = stateIn(input);
  const user = await getUser(call.principal.userId);
  return audited(call, environment.organization, auditedActionOf(transition, environment), async () => {
    // Settling the previous build may have changed it.
    const current = (await byId(call)).environment;
    const newest = await build(current, {
      transition,
      template,
      version,
      parameters,
      presetId,
      reason: transition === 'start' ? reasonOf(input) : 'initiator',
      initiator: { id: call.principal.userId, username: user?.username ?? '' },
      withoutRun: input.orphan ? 'orphan' : undefined,
      isDebugged: input.log_level === 'debug',
      state,
      restart,
    });
    const settled = await settleBuild((await getBuild(newest.id)) ?? newest);
    return created(buildDocument(settled.build, settled.run, current));
  });
};
