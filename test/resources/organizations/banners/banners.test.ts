import { afterEach, describe, expect, it, vi } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** Announcements of the operator to all signed-in users. */

const api = await startApi();
const stranger = (await (await memberHelpers()).newUser('stranger')).token;
afterEach(() => vi.useRealTimers());

const values = { title: 'Maintenance', body: 'Tonight', style: 'warning', audience: 'authenticated_only' };
const make = async (attributes: object = {}) =>
  (await api.post('admin/banners', { ...values, ...attributes })).body.data;
const shownTo = async (token = stranger) => (await api.get('account/details', { token })).body.meta?.banner?.title;
const at = (time: string) => vi.setSystemTime(new Date(time));

describe('banners', () => {
  it('are created by the operator, shown to everyone at once, one at a time, and end', async () => {
    expect(await shownTo()).toBeUndefined();
    const first = await make();
    expect(first).toMatchObject({
      id: expect.stringMatching(/^ab-/),
      type: 'admin-banners',
      attributes: {
        ...values,
        'scheduled-publish-at': null,
        'published-at': expect.any(String),
        'deactivated-at': null,
      },
    });
    expect([await shownTo(), await shownTo(api.token)]).toEqual(['Maintenance', 'Maintenance']);
    const second = await make({ title: 'Second' });
    expect(await shownTo()).toBe('Second');
    // The second banner has deactivated the first.
    expect((await api.patch(`admin/banners/${first.id}`, { title: 'x' })).status).toBe(422);
    const changed = await api.patch(`admin/banners/${second.id}`, { title: 'Changed', style: 'critical' });
    expect(changed.body.data.attributes).toMatchObject({ title: 'Changed', body: 'Tonight', style: 'critical' });
    expect(await shownTo()).toBe('Changed');
    expect((await api.call('DELETE', `admin/banners/${second.id}`)).status).toBe(204);
    expect(await shownTo()).toBeUndefined();
    expect((await api.call('DELETE', `admin/banners/ab-none`)).status).toBe(404);
  });

  it('with a schedule start and end on time', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    at('2031-01-01T10:00:00Z');
    const { id } = await make({ title: 'Always' });
    const scheduled = await make({
      title: 'Planned',
      'scheduled-publish-at': '2031-01-01T13:00:00+01:00',
      'scheduled-expire-at': '2031-01-01T14:00:00Z',
      timezone: 'Europe/Berlin',
    });
    expect(scheduled.attributes).toMatchObject({
      'scheduled-publish-at': '2031-01-01T12:00:00.000Z',
      timezone: 'Europe/Berlin',
      'published-at': null,
    });
    expect(await shownTo()).toBe('Always');
    at('2031-01-01T12:30:00Z');
    expect(await shownTo()).toBe('Planned');
    at('2031-01-01T14:00:00Z');
    expect(await shownTo()).toBe('Always');
    await api.call('DELETE', `admin/banners/${id}`);
    expect(await shownTo()).toBeUndefined();
  });

  it.each([
    [{ title: 'x'.repeat(101) }, /title/],
    [{ body: '<b></b>'.repeat(100) }, /body/],
    [{ body: 'x'.repeat(256) }, /body: may have at most 255/],
    [{ style: 'loud' }, /style/],
    [{ audience: 'all_users' }, /audience: can only be "authenticated_only"/],
    [{ 'scheduled-publish-at': '2031-01-01T00:00:00Z' }, /all three/],
    [
      {
        'scheduled-publish-at': '2031-01-02T00:00:00Z',
        'scheduled-expire-at': '2031-01-01T00:00:00Z',
        timezone: 'UTC',
      },
      /later/,
    ],
    [
      { 'scheduled-publish-at': 'soon', 'scheduled-expire-at': '2031-01-01T00:00:00Z', timezone: 'UTC' },
      /scheduled-publish-at: must be a time/,
    ],
    [
      {
        'scheduled-publish-at': '2031-01-01T00:00:00Z',
        'scheduled-expire-at': '2031-01-02T00:00:00Z',
        timezone: 'Mars',
      },
      /timezone/,
    ],
  ])('reject %o', async (attributes, problem) => {
    const { status, body } = await api.post('admin/banners', { ...values, ...attributes });
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringMatching(problem)]);
  });

  it('are not accessible to others, and cost no additional call', async () => {
    const { id } = await make();
    for (const [method, path] of [
      ['POST', 'admin/banners'],
      ['PATCH', `admin/banners/${id}`],
      ['DELETE', `admin/banners/${id}`],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { data: { attributes: values } };
      expect([method, (await api.call(method, path, { token: stranger, body })).status]).toEqual([method, 404]);
    }
    expect(await shownTo()).toBe('Maintenance');
    await api.call('DELETE', `admin/banners/${id}`);
    const before = api.aws.calls;
    await api.get('account/details', { token: stranger });
    // The token, and the user with the banner.
    expect(api.aws.calls - before).toBe(2);
  });
});
