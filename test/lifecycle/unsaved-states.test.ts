import { describe, expect, it } from 'vitest';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun, queueEntry } from '#test/support/run.ts';

/** A state that an apply could not store, or that is lost: no other run is applied before a user has decided. */

const aws = await startAws();
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#resources/runs/logs.ts')),
  ...(await import('#lifecycle/decisions/decisions.ts')),
  ...(await import('#lifecycle/queue/queue.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#lifecycle/queue/locks.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#resources/states/integrity.ts')),
  ...(await import('#platform/store/integrity.ts')),
};

const unsavedState = { serial: 7, lineage: 'l', md5: 'a'.repeat(32) };
const content = JSON.stringify({ version: 4, terraform_version: '1.11.4', serial: 7, lineage: 'l' }, undefined, 2);

let count = 0;
let workspaceId: string;
const id = (prefix: string) => `${prefix}-${String(++count).padStart(16, '0')}`;

/** A run that is applying with a runner, and one that waits behind it. */
const open = async (
  report?: Run['apply']['report'],
  state: object | undefined = { serial: 5, lineage: 'l', md5: '', id: 'sv-5' },
) => {
  workspaceId = id('ws');
  const front = newRun({ id: id('run'), workspaceId, number: 1, place: 1, status: 'applying', current: true });
  front.apply = { status: 'running', statusTimestamps: {}, claimNonce: 'nonce', report };
  const next = newRun({ id: id('run'), workspaceId, number: 2, place: 2 });
  const lock = { kind: 'run', runId: front.id, at: '' };
  await store.create({
    ...store.keys.workspace(workspaceId),
    id: workspaceId,
    name: 'w',
    runCount: 2,
    lock,
    ...(state ? { state } : {}),
  });
  for (const run of [front, next]) {
    await store.create({ ...store.keys.run(run.id), ...run });
    await store.put(queueEntry(run));
  }
  return { front, next };
};

/** The download of the errored state. */
const offered = async (runId: string): Promise<string | undefined> => {
  const { copy } = (await store.getRun(runId))?.unsaved ?? {};
  return aws.objects.get(store.objects.erroredState(workspaceId, runId, copy))?.toString();
};

const errored = (run: Run) =>
  store.finishRun(run.id, 'ApplyErrored', { Error: 'TerraformFailed', Cause: 'It is kept.' });
const workspace = async () => (await store.get<Workspace>(store.keys.workspace(workspaceId))) as Workspace;
const started = async (run: Run) => (await store.getRun(run.id))?.current === true;
const push = (serial: number, { lineage = 'l', md5 = '' } = {}) =>
  store.update(store.keys.workspace(workspaceId), { set: { state: { serial, lineage, md5, id: id('sv') } } });

/** A run that ended with its state uploaded by the runner to the fallback key, and the run behind it. */
const held = async () => {
  const runs = await open({ outcome: 'errored', unsavedState });
  aws.objects.put(store.objects.leftState(runs.front.id), content);
  await errored(runs.front);
  return runs;
};

describe('a run whose state could not be stored', () => {
  it('keeps the workspace locked, offers the errored state, and holds the next run', async () => {
    const { front, next } = await held();
    expect((await workspace()).lock).toMatchObject({
      kind: 'run',
      runId: front.id,
      unsaved: { runId: front.id, ...unsavedState },
    });
    expect(await store.getRun(front.id)).toMatchObject({ status: 'errored', unsaved: { serial: 7, stored: true } });
    expect(await offered(front.id)).toBe(content);
    await store.startNext(workspaceId);
    expect(await started(next)).toBe(false);
  });

  it('is detected and reported although its runner could not report', async () => {
    const { front, next } = await open();
    aws.objects.put(store.objects.leftState(front.id), content);
    await store.finishRun(front.id, 'ApplyErrored', { Error: 'States.HeartbeatTimeout' });
    const ended = await store.getRun(front.id);
    expect(ended?.unsaved).toEqual({
      runId: front.id,
      serial: 7,
      lineage: 'l',
      stored: true,
      copy: expect.stringMatching(/^[0-9a-f]{32}$/),
      sha256: store.sha256Of(content),
    });
    expect(await offered(front.id)).toBe(content);
    expect(ended?.endReason).toMatch(/stopped answering.*newer state \(serial 7\).*"terraform state push".*locked/);
    expect(await started(next)).toBe(false);
  });

  it('keeps the workspace locked when only the runner has the state', async () => {
    const { front, next } = await open({ outcome: 'errored', unsavedState });
    await errored(front);
    expect((await store.getRun(front.id))?.unsaved?.stored).toBe(false);
    expect(await started(next)).toBe(false);
  });

  it.each([
    [
      'the workspace has the state that its runner did not report',
      undefined,
      content,
      { serial: 7, lineage: 'l', md5: '', id: 'sv-7' },
    ],
    ['its runner reported that all is stored', { outcome: 'errored' } as const, undefined, undefined],
  ])('does not keep the workspace locked when %s', async (_, report, left, state) => {
    const { front, next } = await open(report, state);
    if (left) aws.objects.put(store.objects.leftState(front.id), left);
    await store.finishRun(front.id, 'ApplyErrored', { Error: 'States.HeartbeatTimeout' });
    expect(await started(next)).toBe(true);
  });

  it('cannot change the errored state after it has ended', async () => {
    const { front } = await held();
    aws.objects.put(store.objects.leftState(front.id), 'changed by a runner that was given up');
    await errored(front);
    expect(await offered(front.id)).toBe(content);

    const { front: silent, next } = await open({ outcome: 'errored' });
    await errored(silent);
    aws.objects.put(store.objects.leftState(silent.id), content);
    await errored(silent);
    expect((await store.getRun(silent.id))?.unsaved).toBeUndefined();
    expect(await started(next)).toBe(true);
  });

  it.each(['before', 'after'] as const)(
    'keeps the workspace locked although its finisher crashes (%s a call)',
    async (when) => {
      for (let n = 1, more = true; more; n++) {
        const { front, next } = await open({ outcome: 'errored', unsavedState });
        aws.objects.put(store.objects.leftState(front.id), content);
        aws.failCall(n, when);
        more = await errored(front).then(
          () => false,
          () => true,
        );
        aws.failCall(0, when);
        await errored(front);
        await store.startNext(workspaceId);
        expect((await workspace()).lock?.unsaved, `cut off at call ${n}`).toBeDefined();
        expect(await started(next), `cut off at call ${n}`).toBe(false);
      }
    },
  );
});

describe('an apply that ended without its last state', () => {
  const lost = { outcome: 'errored', lost: true } as const;
  const timedOut = { Error: 'States.HeartbeatTimeout' };

  it.each<[string, Run['apply']['report'], string | undefined]>([
    ['its runner ended without a report', undefined, undefined],
    ['its runner left half a state', undefined, 'nothing'],
    ['its container was killed', lost, undefined],
    ['Terraform was killed', { outcome: 'errored', unrecorded: ['a.b'], stateVersionId: 'sv-5' }, undefined],
  ])('keeps the workspace locked when %s', async (_, report, left) => {
    const { front, next } = await open(report);
    if (left) aws.objects.put(store.objects.leftState(front.id), left);
    await store.finishRun(front.id, 'ApplyErrored', timedOut);
    expect(await started(next)).toBe(false);
    expect((await workspace()).lock).toMatchObject({ kind: 'run', unsaved: { serial: 6, lineage: 'l', lost: true } });
    const { endReason } = (await store.getRun(front.id)) ?? {};
    expect(endReason).toMatch(/stays locked.*"terraform state push".*force-unlock/);
  });

  it('is canceled by force, and keeps the workspace locked', async () => {
    const { front, next } = await open();
    const past = '2020-01-01T00:00:00.000Z';
    await store.updateRun(front.id, { set: { cancel: { by: 'user-1', at: past, forceAvailableAt: past } } });
    expect(await store.decide((await store.getRun(front.id)) as Run, 'force-cancel', 'user-1')).toBe('accepted');
    await store.finishRun(front.id, 'Canceled', { Error: 'Canceled' });
    const ended = await store.getRun(front.id);
    expect(ended).toMatchObject({ status: 'canceled', apply: { status: 'canceled' }, unsaved: { lost: true } });
    expect(ended?.endReason).toMatch(/^The apply was interrupted\. .*stays locked/);
    expect(await started(next)).toBe(false);
  });

  it('lists the changes that its log contains', async () => {
    const { front } = await open(lost);
    const log =
      '\u0002Terraform v1.11.4\na.done: Creating...\na.done: Creation complete after 0s [id=1]\na.begun: Modifying... [id=2]\n';
    await store.appendLog(front.id, 'apply', 0, Buffer.from(log));
    await store.finishRun(front.id, 'ApplyErrored', timedOut);
    const ended = await store.getRun(front.id);
    expect(ended?.unsaved?.changes).toEqual({ done: ['a.done'], open: ['a.begun'] });
    expect(ended?.endReason).toContain(
      'According to its log, a.done was done, and a.begun was started but not finished.',
    );
  });

  it.each([
    ['a newer state', { serial: 5, lineage: 'l', md5: '', id: 'sv-5' }, 6, {}, true],
    ['its current state', { serial: 5, lineage: 'l', md5: '', id: 'sv-5' }, 5, {}, false],
    ['a state of other infrastructure', { serial: 5, lineage: 'l', md5: '', id: 'sv-5' }, 9, { lineage: 'x' }, false],
    ['any state where there was none', null, 1, { lineage: 'new' }, true],
  ])('unlocks the workspace after a user pushed %s: %o → %d %o: %s', async (_, state, serial, file, isFree) => {
    const { front, next } = await open(lost, state as never);
    await store.finishRun(front.id, 'ApplyErrored', timedOut);
    await store.lockWorkspace(workspaceId, 'user-1', '');
    await push(serial, file);
    await store.unlockWorkspace(workspaceId, 'user-1');
    expect(await started(next)).toBe(isFree);
  });
});

describe('the locked workspace', () => {
  it.each([
    ['the state that could not be stored', 7, { md5: unsavedState.md5 }],
    ['a newer state', 8, {}],
  ])('is unlocked after a user pushed %s', async (_, serial, file) => {
    const { front, next } = await held();
    expect((await store.lockWorkspace(workspaceId, 'user-1', 'Locked by Terraform'))?.lock?.kind).toBe('user');
    expect(await started(next)).toBe(false);
    await push(serial, file);
    await store.unlockWorkspace(workspaceId, 'user-1');
    expect(await started(next)).toBe(true);
    // A repeated call of the finisher does not lock the workspace again.
    await errored(front);
    expect((await workspace()).lock).toMatchObject({ runId: next.id });
  });

  it.each([
    ['nothing', undefined, {}],
    ['an older state', 6, {}],
    ['another state with that serial', 7, { md5: 'b'.repeat(32) }],
    ['another lineage', 9, { lineage: 'x' }],
  ])('stays locked after a user pushed %s', async (_, serial, file) => {
    const { front, next } = await held();
    await store.lockWorkspace(workspaceId, 'user-1', '');
    if (serial) await push(serial, file);
    const unlocked = await store.unlockWorkspace(workspaceId, 'user-1');
    expect(unlocked?.lock).toMatchObject({ kind: 'run', runId: front.id, unsaved: { serial: 7 } });
    expect(await started(next)).toBe(false);
  });

  it('can be unlocked only by force', async () => {
    const { next } = await held();
    expect(await store.unlockWorkspace(workspaceId, 'user-1')).toBeUndefined();
    expect((await store.unlockWorkspace(workspaceId))?.lock).toBeUndefined();
    expect(await started(next)).toBe(true);
  });

  it("stays locked when a user's lock is removed by force", async () => {
    const { front } = await held();
    await store.lockWorkspace(workspaceId, 'user-1', '');
    expect((await store.unlockWorkspace(workspaceId))?.lock).toMatchObject({ runId: front.id });
  });

  it('stays locked when a user locks it during release', async () => {
    const { front, next } = await open();
    await store.updateRun(front.id, { set: { status: 'errored', unsaved: { runId: front.id, ...unsavedState } } });
    await store.lockWorkspace(workspaceId, 'user-1', '');
    await errored(front);
    expect((await store.unlockWorkspace(workspaceId, 'user-1'))?.lock).toMatchObject({ runId: front.id });
    expect(await started(next)).toBe(false);
  });
});
