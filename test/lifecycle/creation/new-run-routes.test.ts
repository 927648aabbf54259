import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

describe('creating a run', () => {
  it("uses the newest configuration and the workspace's settings", async () => {
    const { id, version } = await help.ready({ 'auto-apply': true, 'terraform-version': '1.11.4' });
    const run = await help.create(id);
    expect(run).toMatchObject({
      id: expect.stringMatching(/^run-\w{16}$/),
      type: 'runs',
      attributes: {
        status: 'pending',
        message: 'Queued manually via the Terraform Enterprise API',
        'auto-apply': true,
        refresh: true,
        'is-destroy': false,
        'plan-only': false,
        'save-plan': false,
        'has-changes': false,
        'terraform-version': '1.11.4',
        'target-addrs': null,
        actions: {
          'is-cancelable': true,
          'is-confirmable': false,
          'is-discardable': true,
          'is-force-cancelable': false,
        },
        permissions: { 'can-apply': true, 'can-cancel': true, 'can-discard': true, 'can-force-cancel': true },
      },
      relationships: {
        workspace: { data: { type: 'workspaces', id } },
        'configuration-version': { data: { type: 'configuration-versions', id: version } },
        plan: { data: { type: 'plans', id: `plan-${run.id.slice(4)}` } },
        apply: { data: { type: 'applies', id: `apply-${run.id.slice(4)}` } },
        'created-by': { data: { type: 'users', id: api.userId } },
        'cost-estimate': { data: null },
        'policy-checks': { data: [] },
        'task-stages': { data: [] },
      },
    });
    expect((await api.get(`runs/${run.id}`)).body.data).toEqual(run);
    const planOnly = await help.create(id, { 'plan-only': true });
    const numbers = await Promise.all([run, planOnly].map(async (one) => (await help.store.getRun(one.id))?.number));
    expect(numbers).toEqual([1, 2]);
    const { getWorkspace } = await import('#resources/workspaces/records.ts');
    const workspace = await getWorkspace(id);
    expect(workspace).toMatchObject({ runCount: 2, planOnlyCount: 1, projectId: expect.stringMatching(/^prj-/) });
    expect(await help.store.getRun(run.id)).toMatchObject({ projectId: workspace?.projectId });
    expect(api.aws.sent).toContainEqual({
      action: 'StartExecution',
      input: expect.objectContaining({ name: run.id, input: expect.stringContaining(run.id) }),
    });
  });

  it('accepts every option of the Terraform CLI', async () => {
    const { id, version } = await help.ready();
    const attributes = {
      'auto-apply': false,
      refresh: false,
      'is-destroy': true,
      'target-addrs': ['null_resource.a[0]'],
      'replace-addrs': ['module.x["y"].null_resource.b'],
      'allow-config-generation': true,
      'debugging-mode': true,
      message: 'because',
      variables: [{ key: 'n', value: '"x"' }],
    };
    const run = (await api.post('runs', attributes, on(id, version))).body.data;
    expect(run.attributes).toMatchObject(attributes);
    const stored = await help.store.getRun(run.id);
    expect(stored?.inputsKey).toBe(`inputs/${run.id}.json`);
  });

  it('creates a plan-only run for a speculative configuration', async () => {
    const { id } = await help.ready({ 'auto-apply': true });
    const version = await api.configuration(id, { 'auto-queue-runs': false, speculative: true });
    const run = (await api.post('runs', { 'auto-apply': true }, on(id, version.id))).body.data;
    expect(run.attributes).toMatchObject({ 'plan-only': true, 'auto-apply': false });
  });

  it('has the time limits of its organization, and the version of a plan-only run', async () => {
    const { id } = await help.ready();
    const limit = (plan: string | null, apply: string | null) =>
      api.patch('organizations/acme', {
        'terraform-build-worker-plan-timeout': plan,
        'terraform-build-worker-apply-timeout': apply,
      });
    const limits = async () => (await help.store.getRun((await help.create(id)).id))?.timeLimits;
    for (const [plan, apply, expected] of [
      ['2h', null, { plan: 7200 }],
      [null, '3h', { apply: 10_800 }],
      [null, null, undefined],
    ] as const) {
      expect((await limit(plan, apply)).status).toBe(200);
      expect(await limits()).toEqual(expected);
    }
    const older = await help.create(id, { 'plan-only': true, 'terraform-version': '1.5.0' });
    expect(older.attributes['terraform-version']).toBe('1.5.0');
  });

  it('sets auto-apply only for callers with permission to apply', async () => {
    const { id } = await help.ready({ 'auto-apply': true });
    const planner = await help.user('plan');
    const run = await api.post('runs', { 'auto-apply': true }, on(id), { token: planner.token });
    expect(run.status).toBe(201);
    expect(run.body.data.attributes).toMatchObject({
      'auto-apply': false,
      permissions: { 'can-apply': false, 'can-cancel': false },
    });
  });

  it('logs JSON lines for the cloud block and the page if the workspace enables structured output, otherwise text', async () => {
    const headers = { 'x-terraform-integration': 'cloud', 'terraform-version': '1.11.4' };
    const cases = [
      [{}, headers, true],
      [{ 'structured-run-output-enabled': false }, headers, false],
      [{}, { 'terraform-version': '1.11.4' }, false],
      [{}, {}, false],
      [{}, { 'sec-fetch-site': 'same-origin' }, true],
      [{ 'structured-run-output-enabled': false }, { 'sec-fetch-site': 'same-origin' }, false],
      [{}, { 'sec-fetch-site': 'cross-site' }, false],
    ] as const;
    for (const [settings, sent, structured] of cases) {
      const { id, version } = await help.ready(settings);
      const run = (await api.post('runs', {}, on(id, version), { headers: sent })).body.data;
      expect((await help.store.getRun(run.id))?.structuredOutput).toBe(structured);
    }
  });

  it('from the web page records the source and is not deduplicated', async () => {
    const { id } = await help.ready();
    const headers = { 'sec-fetch-site': 'same-origin' };
    const response = await api.post(`workspaces/${id}/configuration-versions`, {}, {}, { headers });
    const post = async () => (await api.post('runs', {}, on(id, response.body.data.id), { headers })).body.data;
    const [first, second] = [await post(), await post()];
    expect(first.attributes).toMatchObject({ source: 'tfe-ui', message: 'Triggered via UI' });
    expect(second.id).not.toBe(first.id);
    const named = await api.post('runs', { message: 'mine' }, on(id, response.body.data.id), { headers });
    expect(named.body.data.attributes.message).toBe('mine');
  });

  it('from the CLI happens once per configuration version', async () => {
    const { id } = await api.workspace();
    const headers = { 'x-terraform-integration': 'cloud', 'terraform-version': '1.11.4' };
    const response = await api.post(
      `workspaces/${id}/configuration-versions`,
      { 'auto-queue-runs': false },
      {},
      { headers },
    );
    const version = response.body.data.id as string;
    const { putObject } = await import('#platform/store/bucket.ts');
    await putObject(`uploads/${version}.tar.gz`, Buffer.from([0x1f, 0x8b]));
    const post = () => api.post('runs', {}, on(id, version), { headers });
    const answers = [...(await Promise.all([post(), post(), post()])), await post()];
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.data.id}`)).size).toBe(1);
    expect((await api.get(`workspaces/${id}/runs`)).body.data).toHaveLength(1);
    const other = await api.post('runs', {}, on(id, version));
    expect(other.body.data.id).not.toBe(answers[0]?.body.data.id);
  });

  it('is rejected without a configuration', async () => {
    const { id } = await api.workspace();
    const none = await api.post('runs', {}, on(id));
    expect(none.status).toBe(422);
    expect(none.body.errors[0]).toMatchObject({
      detail: expect.stringContaining('has no configuration yet'),
      source: { pointer: '/data/relationships/configuration-version' },
    });
    const other = await help.ready();
    expect((await api.post('runs', {}, on(id, other.version))).body.errors[0].detail).toMatch(/not found in workspace/);
    expect((await api.post('runs', {}, on(id, 'cv-unknown'))).status).toBe(422);
  });

  it.each([
    ['nothing to name the workspace', {}, {}, '/data/relationships/workspace'],
    [
      'destroy and refresh-only',
      { 'is-destroy': true, 'refresh-only': true },
      undefined,
      '/data/attributes/refresh-only',
    ],
    ['refresh-only without refresh', { refresh: false, 'refresh-only': true }, undefined, '/data/attributes/refresh'],
    ['save-plan and plan-only', { 'save-plan': true, 'plan-only': true }, undefined, '/data/attributes/save-plan'],
    ['another version to apply', { 'terraform-version': '1.0.0' }, undefined, '/data/attributes/terraform-version'],
    ['an address that is an option', { 'target-addrs': ['-destroy'] }, undefined, '/data/attributes/target-addrs/0'],
    ['an address with a line break', { 'replace-addrs': ['a.b\nc'] }, undefined, '/data/attributes/replace-addrs/0'],
    [
      'an action beside a target',
      { 'invoke-action-addrs': ['action.a.b'], 'target-addrs': ['a.b'] },
      undefined,
      '/data/attributes/invoke-action-addrs',
    ],
    [
      'an action of a Terraform without actions',
      { 'invoke-action-addrs': ['action.a.b'], 'plan-only': true, 'terraform-version': '1.13.3' },
      undefined,
      '/data/attributes/invoke-action-addrs',
    ],
    [
      'two actions',
      { 'invoke-action-addrs': ['action.a.b', 'action.a.c'] },
      undefined,
      '/data/attributes/invoke-action-addrs',
    ],
    ['an invalid variable', { variables: [{ key: 'a b', value: '1' }] }, undefined, '/data/attributes/variables/0/key'],
    ['a variable without value', { variables: [{ key: 'a' }] }, undefined, '/data/attributes/variables/0/value'],
    [
      'too much in variables',
      { variables: [{ key: 'a', value: 'x'.repeat(70_000) }] },
      undefined,
      '/data/attributes/variables',
    ],
    ['an invalid message', { message: { text: 'x' } }, undefined, '/data/attributes/message'],
  ])('is rejected with %s', async (_, attributes, relationships, pointer) => {
    const { id } = await help.ready();
    const answer = await api.post('runs', attributes, relationships ?? on(id));
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].source.pointer).toBe(pointer);
    expect((await api.get(`workspaces/${id}/runs`)).body.data).toEqual([]);
  });

  it("is rejected if the workspace's settings forbid it", async () => {
    const destroy = await help.ready({ 'allow-destroy-plan': false });
    expect((await api.post('runs', { 'is-destroy': true }, on(destroy.id))).status).toBe(422);
    const tofu = await help.ready();
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    await update(keys.workspace(tofu.id), { set: { engine: 'tofu' } });
    const older = await api.post('runs', { 'plan-only': true, 'terraform-version': '1.5.0' }, on(tofu.id));
    expect(older.body.errors[0]).toMatchObject({ source: { pointer: '/data/attributes/terraform-version' } });
    const local = await help.ready({ 'execution-mode': 'local' });
    expect((await api.post('runs', {}, on(local.id))).body.errors[0].detail).toMatch(/runs Terraform locally/);
  });
});
