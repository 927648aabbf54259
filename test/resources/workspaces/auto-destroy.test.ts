import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';

/** Automatic destruction of workspaces: valid settings, and inheritance from projects. */

const api = await startApi();

const at = '2030-01-01T00:00:00.000Z';
/** With a duration, the time is in hours after the last change of the settings: nothing has a state here. */
const settings = ({ attributes }: { attributes: Record<string, string> }) => [
  attributes['auto-destroy-activity-duration']
    ? (Date.parse(attributes['auto-destroy-at'] ?? '') - Date.parse(attributes['updated-at'] ?? '')) / 3_600_000
    : attributes['auto-destroy-at'],
  attributes['auto-destroy-activity-duration'],
  attributes['inherits-project-auto-destroy'],
];
const patched = async (id: string, attributes: object) => {
  const answer = await api.patch(`workspaces/${id}`, attributes);
  return answer.status === 200 ? settings(answer.body.data) : answer.body.errors[0].detail;
};
const project = async (duration?: string) =>
  (
    await api.post('organizations/acme/projects', {
      name: `p${Math.random()}`.replace('.', ''),
      ...(duration ? { 'auto-destroy-activity-duration': duration } : {}),
    })
  ).body.data;
const within = (id: string) => ({ project: { data: { type: 'projects', id } } });
const workspaceIn = async (projectId: string, attributes: object = {}) =>
  (
    await api.post(
      'organizations/acme/workspaces',
      { name: `w${Math.random()}`.replace('.', ''), ...attributes },
      within(projectId),
    )
  ).body.data;

describe('a workspace', () => {
  it('has a time or a duration, and follows its project otherwise', async () => {
    const workspace = await api.workspace();
    expect(settings(workspace)).toEqual([null, null, true]);
    const { id } = workspace;
    expect(await patched(id, { 'auto-destroy-at': '2030-01-01T00:00:00Z' })).toEqual([at, null, false]);
    expect(await patched(id, { description: 'x' })).toEqual([at, null, false]);
    expect(await patched(id, { 'auto-destroy-activity-duration': '14d' })).toEqual([336, '14d', false]);
    expect(
      await patched(id, { 'auto-destroy-activity-duration': null, 'inherits-project-auto-destroy': false }),
    ).toEqual([null, null, false]);
    expect(await patched(id, { 'auto-destroy-at': at })).toEqual([at, null, false]);
    expect(await patched(id, { 'auto-destroy-at': null })).toEqual([null, null, true]);
  });

  it('has no duration any more when its time is cleared, unless the request names the duration', async () => {
    const { id } = await workspaceIn((await project('3d')).id, { 'auto-destroy-activity-duration': '1d' });
    expect(await patched(id, { 'auto-destroy-at': null, 'auto-destroy-activity-duration': '2d' })).toEqual([
      48,
      '2d',
      false,
    ]);
    expect(await patched(id, { 'auto-destroy-at': null })).toEqual([72, '3d', true]);
    expect(await patched(id, { 'auto-destroy-at': null })).toEqual([72, '3d', true]);
  });

  it('rejects invalid durations and contradictions', async () => {
    const { id } = await api.workspace();
    const wrongs = [
      [
        { 'auto-destroy-activity-duration': '2w' },
        "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
      ],
      [{ 'auto-destroy-at': 'tomorrow' }, 'must be a time'],
      [{ 'auto-destroy-at': at, 'auto-destroy-activity-duration': '1d' }, 'send one of them'],
      [{ 'auto-destroy-at': at, 'inherits-project-auto-destroy': true }, 'cannot be true'],
      [
        { 'auto-destroy-activity-duration': '1d', 'inherits-project-auto-destroy': true },
        "the project's duration (none)",
      ],
    ] as const;
    for (const [attributes, detail] of wrongs) expect(await patched(id, attributes)).toContain(detail);
  });
});

describe('a project', () => {
  it('passes its duration to workspaces that inherit it, and to no others', async () => {
    const { id } = await project('3d');
    const [follows, own] = [await workspaceIn(id), await workspaceIn(id, { 'auto-destroy-activity-duration': '1h' })];
    expect([settings(follows), settings(own)]).toEqual([
      [72, '3d', true],
      [1, '1h', false],
    ]);
    const changed = await api.patch(`projects/${id}`, { 'auto-destroy-activity-duration': '5d' });
    expect(changed.body.data.attributes['auto-destroy-activity-duration']).toBe('5d');
    const read = async (one: { id: string }) => settings((await api.get(`workspaces/${one.id}`)).body.data);
    expect([await read(follows), await read(own)]).toEqual([
      [120, '5d', true],
      [1, '1h', false],
    ]);
    expect(await patched(own.id, { 'inherits-project-auto-destroy': true })).toEqual([120, '5d', true]);
    await api.patch(`projects/${id}`, { 'auto-destroy-activity-duration': null });
    expect(await read(follows)).toEqual([null, null, true]);
  });

  it('passes it to workspaces that move there', async () => {
    const [from, to] = [await project('3d'), await project('7d')];
    const [one, other] = [await workspaceIn(from.id), await workspaceIn(from.id)];
    const answer = await api.call('PATCH', `workspaces/${one.id}`, {
      body: { data: { type: 'workspaces', relationships: within(to.id) } },
    });
    expect(settings(answer.body.data)).toEqual([168, '7d', true]);
    await api.call('POST', `projects/${to.id}/relationships/workspaces`, {
      body: { data: [{ type: 'workspaces', id: other.id }] },
    });
    expect(settings((await api.get(`workspaces/${other.id}`)).body.data)).toEqual([168, '7d', true]);
  });
});
