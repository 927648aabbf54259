import { environment } from '#platform/environment.ts';
import { create, get } from '#platform/store/table.ts';
import { noteTemplates } from '#resources/organizations/records.ts';
import type { FrozenVariable } from '#resources/runs/inputs.ts';
import { getRun } from '#resources/runs/records.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import type { Home } from '../access.ts';
import { uuidOf } from '../host/uuid.ts';
import { outcomeOf } from '../jobs.ts';
import { keys } from '../keys.ts';
import { createManagedWorkspace, environmentVariable, recordArchive, startRun } from '../runs.ts';
import { parseSchedule } from '../workspaces/cron.ts';
import { checkExternalAuth, ImportError, parametersIn, presetsIn, resourcesIn } from './plan.ts';
import { readPlan } from './read-plan.ts';
import { frozenVariables, startCount } from './variables.ts';
import { completeVersion, type Found, putFound, type Version } from './versions.ts';

/** Imports of versions: two plans without a state, one for a start and one for a stop. */

const importsName = 'template-imports';

/** The workspace for importing versions without a template. */
export const importWorkspace = async (home: Home): Promise<Workspace> => {
  const pointer = await get<{ workspaceId: string }>(keys.imports(home.organization));
  const workspace = pointer && (await getWorkspace(pointer.workspaceId));
  if (workspace) return workspace;
  await noteTemplates(home.organization);
  const suffix = uuidOf(`${home.organization} ${Date.now()}`).slice(0, 4);
  const created = await createManagedWorkspace(home, `${importsName}-${suffix}`, 'new templates');
  if (pointer) return created;
  const isFirst = await create({ ...keys.imports(home.organization), workspaceId: created.id });
  return isFirst ? created : importWorkspace(home);
};

/** Variables that the provider reads in plans without an environment. */
const importVariables = (transition: 'start' | 'stop'): FrozenVariable[] => [
  environmentVariable('CODER_AGENT_URL', environment.environmentsUrl),
  environmentVariable('CODER_WORKSPACE_TRANSITION', transition),
  environmentVariable('CODER_WORKSPACE_OWNER_GROUPS', '["Everyone"]'),
  environmentVariable('CODER_WORKSPACE_OWNER_RBAC_ROLES', '[]'),
];

/** Can be repeated, because the ids of its runs are derived. */
export const startImport = async (version: Version, workspace: Workspace): Promise<void> => {
  const configurationVersionId = await recordArchive(workspace, version.archive, version.initiatorId);
  const transitions = ['start', 'stop'] as const;
  await Promise.all(
    transitions.map((transition, i) =>
      startRun({
        id: version.runIds[i] ?? '',
        workspace,
        archive: version.archive,
        configurationVersionId,
        createdBy: version.initiatorId,
        message: `Import of template version ${version.name}, ${transition}`,
        planOnly: true,
        isDestroy: false,
        variables: [
          ...importVariables(transition),
          ...frozenVariables(version.id, version.variables),
          ...startCount(version.variables, transition === 'start'),
        ],
        belongsTo: `version ${version.id}`,
      }),
    ),
  );
};

/** Fits into the 400 KB of an item. */
const maxFoundBytes = 350_000;

const findAll = async (version: Version, [start, stop]: Run[]): Promise<Found> => {
  if (!start || !stop) throw new ImportError('The import has no plans.');
  const [ofStart, ofStop] = await Promise.all([readPlan(start), readPlan(stop)]);
  checkExternalAuth(ofStart);
  const content: Found = {
    parameters: parametersIn(ofStart),
    presets: presetsIn(ofStart, (name) => uuidOf(`${version.id} preset ${name}`)),
    start: resourcesIn(ofStart),
    stop: resourcesIn(ofStop),
  };
  if (Buffer.byteLength(JSON.stringify(content)) > maxFoundBytes) {
    throw new ImportError('The template has too many parameters, presets or resources.');
  }
  return content;
};

const warningsOf = ({ parameters, presets }: Found): string[] => {
  const names = new Set(parameters.map(({ name }) => name));
  return presets.flatMap(({ name, parameters: values, scheduled = [] }) => [
    ...Object.keys(values)
      .filter((parameter) => !names.has(parameter))
      .map((parameter) => `Preset "${name}" sets parameter "${parameter}", which the template does not have.`),
    ...scheduled
      .filter(({ cron, zone }) => !parseSchedule(`CRON_TZ=${zone} ${cron}`))
      .map(({ cron }) => `Preset "${name}" has a prebuild schedule that never applies: "${cron}".`),
  ]);
};

export const runsOf = async ({ runIds }: Pick<Version, 'runIds'>): Promise<Run[]> =>
  (await Promise.all(runIds.map(getRun))).filter((run) => run !== undefined);

/** Whether the function that should have started its runs was interrupted. */
const isOld = ({ createdAt }: Version): boolean => Date.now() - Date.parse(createdAt) > 120_000;

/** The current state of the version; records the end of an import whose runs have ended. */
export const settleVersion = async (version: Version): Promise<{ version: Version; runs: Run[] }> => {
  if (version.completedAt) return { version, runs: [] };
  const runs = await runsOf(version);
  if (runs.length < version.runIds.length && isOld(version)) {
    const at = new Date().toISOString();
    const error = 'The import could not be started. Push the template again.';
    return {
      version: (await completeVersion(version.id, { completedAt: at, startedAt: at, error })) ?? version,
      runs: [],
    };
  }
  const outcome = outcomeOf(version, runs);
  if (!outcome) return { version, runs };
  let warnings: string[] = [];
  if (!outcome.error && !outcome.canceledAt) {
    try {
      const content = await findAll(version, runs);
      warnings = warningsOf(content);
      await putFound(version.id, content);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      outcome.error = error.message;
    }
  }
  const completed = await completeVersion(version.id, { ...outcome, warnings });
  return { version: completed ?? version, runs };
};
