import type { Context } from 'aws-lambda';
import { afterAll } from 'vitest';
import type { Build } from '#environments/builds/records.ts';
import type { Preset } from '#environments/templates/plan.ts';
import type { Template } from '#environments/templates/records.ts';
import type { Version } from '#environments/templates/versions.ts';
import type { Environment } from '#environments/workspaces/records.ts';
import { environmentBuildRoutes } from '#infra/functions/environment-builds.ts';
import { environmentFileRoutes } from '#infra/functions/environment-files.ts';
import { environmentGovernanceRoutes } from '#infra/functions/environment-governance.ts';
import { templateRoutes } from '#infra/functions/environment-templates.ts';
import { Router } from '#infra/local/host/routes.ts';
import type { FunctionId } from '#infra/stack/functions.ts';
import type { Run } from '#run/run.ts';
import { type Answered, eventOf, type Sent, startApi, uniqueName } from '#test/support/api.ts';
import { handlerOf } from '#test/support/handlers.ts';
import { memberHelpers } from '#test/support/members.ts';
import { resource, stateFile } from '#test/support/state.ts';

export const preset = (more: Partial<Preset> = {}): Preset => ({
  id: crypto.randomUUID(),
  name: 'small',
  description: '',
  icon: '',
  isDefault: true,
  parameters: {},
  instances: 2,
  ...more,
});

/** A line of the Embedded Metric Format. */
type EmittedMetrics = Record<string, unknown> & {
  _aws: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] };
};

/** Captures CloudWatch metrics instead of printing them between the lines of the tests. */
const catchMetrics = (): EmittedMetrics[] => {
  const emitted: EmittedMetrics[] = [];
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = ((text: string, ...more: []) => {
    if (!String(text).startsWith('{"_aws"')) return write(text, ...more);
    emitted.push(JSON.parse(text));
    return true;
  }) as typeof process.stdout.write;
  return emitted;
};

/** The environments' host in this process, with DynamoDB and S3 on this machine; tests decide how runs end. */
export const startEnvironments = async (options: Parameters<typeof startApi>[0] = {}) => {
  const api = await startApi(options);
  afterAll(() => api.close());
  const emitted = catchMetrics();
  process.env.ENVIRONMENTS_URL = 'https://environments.example.test';
  process.env.ENVIRONMENT_SOCKET_URL = 'wss://logs.example.test/logs';
  const templates = await import('#environments/templates/records.ts');
  const versions = await import('#environments/templates/versions.ts');
  const builds = await import('#environments/builds/records.ts');
  const workspaces = await import('#environments/workspaces/records.ts');
  const { settleBuild } = await import('#environments/builds/settle.ts');
  const { handler: settle } = await import('#environments/settle-handler.ts');
  const { createManagedWorkspace } = await import('#environments/runs.ts');
  const { newUuid } = await import('#environments/host/uuid.ts');
  const { getOrganization, noteTemplates } = await import('#resources/organizations/records.ts');
  const { updateRun, getRun } = await import('#resources/runs/records.ts');
  const { putState } = await import('#environments/builds/state.ts');
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { leaveQueue } = await import('#lifecycle/queue/queue.ts');
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const { openInputs } = await import('#resources/runs/inputs.ts');

  /** In the API's form of routes. */
  const own = Object.entries({
    EnvironmentBuilds: environmentBuildRoutes,
    EnvironmentTemplates: templateRoutes,
    EnvironmentFiles: environmentFileRoutes,
    EnvironmentGovernance: environmentGovernanceRoutes,
  }) as [FunctionId, string[]][];
  const router = new Router(
    own.flatMap(([functionArn, keys]) => keys.map((key) => ({ key, functionArn, timeoutMs: 29_000 }))),
  );

  const call = async (method: string, path: string, sent: Sent = {}): Promise<Answered> => {
    const full = path.replace(/^(?!\/metrics)/, '/api/v2');
    const event = eventOf(method, full, { token: api.token, ...sent });
    const target = router.find(method, event.rawPath)?.route.functionArn ?? 'Environments';
    const handler = await handlerOf(target as FunctionId);
    const answer = (await handler(event, {} as Context)) as {
      statusCode: number;
      headers: Record<string, string>;
      body?: string;
      isBase64Encoded?: boolean;
    };
    const { statusCode, headers, body = '', isBase64Encoded } = answer;
    const isJson = headers['content-type']?.includes('json');
    const text = isBase64Encoded ? Buffer.from(body, 'base64').toString('latin1') : body;
    return { status: statusCode, headers, body: isJson && /^[[{]/.test(text) ? JSON.parse(text) : text };
  };

  const home = await getOrganization('acme');
  const place = { organization: 'acme', projectId: home?.defaultProjectId ?? '' };

  const addVersion = async (
    template: Pick<Template, 'id' | 'workspaceId'>,
    presets: Preset[] = [],
    change: Partial<Version> = {},
  ) => {
    const at = new Date().toISOString();
    const id = newUuid();
    await versions.createVersion({
      ...place,
      id,
      jobId: newUuid(),
      templateId: template.id,
      name: uniqueName('v'),
      message: '',
      readme: '',
      initiatorId: api.userId,
      createdByName: 'owner',
      createdAt: at,
      updatedAt: at,
      startedAt: at,
      completedAt: at,
      archived: false,
      fileId: newUuid(),
      archive: { key: 'uploads/none.tar.gz', sha256: '0'.repeat(64) },
      workspaceId: template.workspaceId,
      runIds: [],
      variables: [],
      ...change,
    });
    await versions.putFound(id, { parameters: [], presets, start: [], stop: [] });
    return id;
  };

  /** An imported template. */
  const addTemplate = async (change: Partial<Template> = {}, presets: Preset[] = []): Promise<Template> => {
    const id = newUuid();
    const name = uniqueName('tpl');
    await noteTemplates(place.organization);
    const workspace = await createManagedWorkspace(place, `template-${name}-${id.slice(0, 8)}`, `template ${name}`);
    const at = new Date().toISOString();
    const activeVersionId = await addVersion({ id, workspaceId: workspace.id }, presets);
    const template = await templates.createTemplate({
      ...templates.defaultTemplateSettings,
      ...place,
      id,
      name,
      activeVersionId,
      workspaceId: workspace.id,
      createdBy: api.userId,
      createdByName: 'owner',
      createdAt: at,
      updatedAt: at,
      ...change,
    });
    if (!template) throw new Error('no template');
    return template;
  };

  const environmentOf = async (id: string): Promise<Environment> =>
    (await workspaces.getAnyEnvironment(id)) as Environment;

  const latest = async (id: string): Promise<Build> =>
    (await builds.getBuild((await environmentOf(id)).latestBuildId)) as Build;

  const runOf = async (build: Build): Promise<Run> => (await getRun(build.runIds[0] ?? '')) as Run;

  const stateOf = (resources: string[]): Buffer =>
    Buffer.from(stateFile({ resources: resources.map((name) => resource('terraform_data', name)) }).text);

  /** Writes the state that Terraform leaves in the workspace, regardless of the run's outcome. */
  const writeState = async (id: string, resources: string[]): Promise<void> => {
    const { workspaceId } = await environmentOf(id);
    const { lock } = (await getWorkspace(workspaceId)) ?? {};
    // The run writes it while it holds the lock; users write only without one.
    if (lock) await update(keys.workspace(workspaceId), { remove: ['lock'] });
    await putState(workspaceId, api.userId, stateOf(resources));
    if (lock) await update(keys.workspace(workspaceId), { set: { lock } });
  };

  /** Ends the run of the latest build, with the state that Terraform would have left. */
  const end = async (
    id: string,
    status: 'applied' | 'planned_and_finished' | 'errored' | 'canceled' = 'applied',
  ): Promise<Build> => {
    const build = await latest(id);
    const workspace = await getWorkspace((await environmentOf(id)).workspaceId);
    if (status === 'applied' && build.transition !== 'delete' && workspace && !workspace.state)
      await writeState(id, []);
    for (const runId of build.runIds) {
      const run = await updateRun(runId, { set: { status } });
      if (run) await leaveQueue(run);
    }
    const [settled] = await Promise.all([settleBuild(build), ...build.runIds.map((runId) => settle({ runId }))]);
    return settled.build;
  };

  const create = async (template: Template, more: object = {}, sent: Sent = {}): Promise<Answered> =>
    call('POST', '/users/me/workspaces', {
      ...sent,
      body: { template_id: template.id, name: uniqueName('dev'), ...more },
    });

  const build = (id: string, transition: string, sent: Sent = {}) =>
    call('POST', `/workspaces/${id}/builds`, { body: { transition }, ...sent });

  /** A running environment. */
  const running = async (template: Template, more: object = {}, sent: Sent = {}): Promise<string> => {
    const answer = await create(template, more, sent);
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    await end(answer.body.id);
    return answer.body.id;
  };

  return {
    api,
    emitted,
    call,
    members: await memberHelpers(),
    addTemplate,
    addVersion,
    create,
    running,
    end,
    latest,
    stateOf,
    writeState,
    runOf,
    environmentOf,
    /** Variables of Terraform in the latest build. */
    inputsOf: async (id: string): Promise<Record<string, string>> => {
      const inputs = await openInputs(await runOf(await latest(id)));
      return Object.fromEntries(inputs.map(({ key, value }) => [key, value]));
    },
    build,
    /** A build that was applied. */
    built: async (id: string, transition: string, sent: Sent = {}): Promise<Build> => {
      await build(id, transition, sent);
      return end(id);
    },
  };
};

export type Environments = Awaited<ReturnType<typeof startEnvironments>>;
