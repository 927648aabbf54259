import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { ids, runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

const newRun = async () => (await help.create((await help.ready()).id)).id as string;

describe('the timeline of a run', () => {
  it('lists every event in order, with actor and comment', async () => {
    const id = await newRun();
    await api.call('POST', `runs/${id}/actions/discard`, { body: { comment: 'not now' } });
    const { body } = await api.get(`runs/${id}/run-events?include=actor,comment`);
    expect(body.data.map((event: { attributes: { action: string } }) => event.attributes.action)).toEqual([
      'created',
      'discarded',
    ]);
    const [user, comment] = body.included;
    expect(user).toMatchObject({ type: 'users', id: api.userId });
    expect(comment).toMatchObject({ type: 'comments', attributes: { body: 'not now' } });
    expect(body.data[1].relationships.comment.data).toEqual({ type: 'comments', id: comment.id });
    expect((await api.get(`run-events/${body.data[1].id}`)).body.data).toEqual(body.data[1]);
    const unknown = await api.get(`runs/${id}/run-events?include=unknown`);
    expect([unknown.status, unknown.body.errors[0].detail]).toEqual([
      400,
      expect.stringContaining('Invalid include parameter'),
    ]);
  });

  it('reads a run with its events in one query', async () => {
    const id = await newRun();
    await api.call('POST', `runs/${id}/actions/discard`, { body: { comment: 'not now' } });
    await api.post(`runs/${id}/comments`, { body: 'but soon' });
    const events: { id: string }[] = (await api.get(`runs/${id}/run-events`)).body.data;
    expect(events).toHaveLength(3);
    expect((await api.get(`runs/${id}`)).body.data.relationships['run-events']).toEqual({
      data: events.map((event) => ({ type: 'run-events', id: event.id })),
      links: { related: `/api/v2/runs/${id}/run-events` },
    });
    const { getRunWithEvents } = await import('#resources/runs/events.ts');
    const { countingReads, readCount } = await import('#platform/store/table.ts');
    const reads = countingReads(async () => {
      await getRunWithEvents(id);
      return readCount();
    });
    expect(await reads()).toBe(1);
  });

  it('shows creation and end of a run once each, although an older version stored both', async () => {
    const id = await newRun();
    const at = new Date(Date.now() + 1000).toISOString();
    await help.bring(id, { status: 'applied', 'statusTimestamps.applied-at': at });
    const listed = async () => (await api.get(`runs/${id}/run-events`)).body.data;
    const events = await listed();
    expect(events.map(({ attributes }: { attributes: object }) => attributes)).toMatchObject([
      { action: 'created' },
      { action: 'applied', 'created-at': at },
    ]);
    for (const event of events) expect((await api.get(`run-events/${event.id}`)).body.data).toEqual(event);
    const { recordRunEvent } = await import('#resources/runs/events.ts');
    const run = await help.store.getRun(id);
    if (!run) throw new Error('gone');
    await recordRunEvent(run, 'created', run.createdBy, undefined, run.createdAt);
    await recordRunEvent(run, 'applied', undefined, undefined, at);
    expect(await listed()).toEqual(events);
  });

  it('lists a repeated event once', async () => {
    const id = await newRun();
    const { enqueue } = await import('#lifecycle/creation/new-run.ts');
    const run = await help.store.getRun(id);
    if (run) await enqueue(run);
    expect((await api.get(`runs/${id}/run-events`)).body.data).toHaveLength(1);
  });
});

describe('comments', () => {
  const say = (id: string, body: unknown, sent = {}) => api.post(`runs/${id}/comments`, { body }, undefined, sent);

  it('are listed oldest first in pages, and appear in the timeline', async () => {
    const id = await newRun();
    const bodies = ['one', 'two', 'three'];
    for (const body of bodies) expect((await say(id, body)).status).toBe(201);
    const page = (await api.get(`runs/${id}/comments?page[size]=2`)).body;
    expect(page.data.map((one: { attributes: { body: string } }) => one.attributes.body)).toEqual(['one', 'two']);
    expect(page.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': 2 });
    const [first] = page.data;
    expect((await api.get(`comments/${first.id}`)).body.data).toEqual(first);
    const { comments } = (await api.get(`runs/${id}`)).body.data.relationships;
    expect(comments.data).toHaveLength(3);
    expect(comments.data[0]).toEqual({ type: 'comments', id: first.id });
    const event = (await api.get(`run-events/${first.relationships['run-event'].data.id}`)).body.data;
    expect(event).toMatchObject({
      attributes: { action: 'commented' },
      relationships: { actor: { data: { id: api.userId } }, comment: { data: { id: first.id } } },
    });
  });

  it('can be added to an ended run by planners', async () => {
    const id = await newRun();
    await help.bring(id, { status: 'applied' });
    const planner = await help.user('plan');
    expect((await say(id, 'nice', { token: planner.token })).status).toBe(201);
    const reader = await help.user('read');
    expect((await say(id, 'nice', { token: reader.token })).status).toBe(403);
  });

  it('get unique numbers under concurrency', async () => {
    const id = await newRun();
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => say(id, `comment ${n}`)));
    expect(new Set(ids(answers.map(({ body }) => body.data))).size).toBe(8);
    expect((await api.get(`runs/${id}/comments`)).body.data).toHaveLength(8);
  });

  it('must not be empty or too long', async () => {
    const id = await newRun();
    for (const body of ['', 'x'.repeat(10_001), 5, null]) {
      const answer = await say(id, body);
      expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([422, '/data/attributes/body']);
    }
    await help.bring(id, { commentCount: 1000 });
    expect((await say(id, 'one more')).status).toBe(409);
  });

  it('read only the items of the page', async () => {
    const id = await newRun();
    for (let n = 0; n < 5; n++) await say(id, `comment ${n}`);
    const before = { items: api.aws.itemsRead, calls: api.aws.calls };
    await api.get(`runs/${id}/comments?page[size]=2&page[number]=2`);
    // The token, the run, and the membership with the workspace in one request, in addition to the page.
    expect(api.aws.itemsRead - before.items).toBe(4 + 2);
    expect(api.aws.calls - before.calls).toBe(3 + 1);
  });
});
