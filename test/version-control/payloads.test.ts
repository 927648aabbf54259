import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ForgeEvent } from '#version-control/forges/events.ts';
import { webhookReaders } from '#version-control/forges/webhook-readers.ts';
import { githubPayloads } from './support/github-payloads.ts';

const { gitea, github, gitlab } = webhookReaders;

/** Payloads of GitHub and GitLab as their documentation has them. */

const header = (values: Record<string, string>) => (name: string) => values[name];
const ofGithub = (name: string): unknown[] => githubPayloads[name] ?? [];
const read = (name: string, payload: unknown) =>
  github.eventsOf(header({ 'x-github-event': name }), payload)[0] as ForgeEvent;

describe('GitHub', () => {
  it('payloads are all parsed without an error', () => {
    const kinds = Object.entries(githubPayloads).flatMap(([name, payloads]) =>
      payloads.map((payload) => read(name, payload).kind),
    );
    expect(new Set(kinds)).toEqual(new Set(['ignored', 'push', 'gone', 'tag', 'merge', 'pull']));
  });

  it('payloads include pushes of branches, forced ones, deletions and tags', () => {
    const [payload] = ofGithub('push') as [Record<string, unknown>];
    const [before, after] = ['a'.repeat(40), 'b'.repeat(40)];
    const branch = { ...payload, ref: 'refs/heads/a/b', before, after, deleted: false, created: false, forced: true };
    expect(read('push', branch)).toMatchObject({ kind: 'push', branch: 'a/b', before, after, forced: true });
    expect(read('push', { ...branch, before: '0'.repeat(40) })).toMatchObject({ kind: 'push', before: null });
    expect(read('push', { ...branch, deleted: true, after: '0'.repeat(40) })).toMatchObject({ kind: 'gone' });
    const tag = { ...branch, ref: 'refs/tags/v1', created: true, head_commit: { id: before } };
    expect(read('push', tag)).toMatchObject({ kind: 'tag', tag: 'v1', sha: before });
  });

  it('pull requests are read when opened, updated, retargeted and closed, and at no other event', () => {
    const payloads = ofGithub('pull_request') as { action: string; number: number; changes?: { base?: object } }[];
    expect(payloads.length).toBeGreaterThan(15);
    const acted = new Set(['opened', 'reopened', 'synchronize', 'closed']);
    for (const payload of payloads) {
      const matters = acted.has(payload.action) || (payload.action === 'edited' && payload.changes?.base !== undefined);
      const event = read('pull_request', payload);
      expect([payload.action, event.kind]).toEqual([payload.action, matters ? 'pull' : 'ignored']);
      if (event.kind === 'pull') expect(event.over).toBe(payload.action === 'closed');
    }
  });

  it('comments on pull requests are read if they are new and commands', () => {
    const comments = ofGithub('issue_comment') as { action: string; issue: object; comment: object }[];
    expect(comments.length).toBeGreaterThan(2);
    for (const one of comments) expect(read('issue_comment', one).kind).toBe('ignored');
    const [payload] = comments as [(typeof comments)[number]];
    const said = (body: string, change: object = {}) =>
      read('issue_comment', {
        ...payload,
        action: 'created',
        issue: { ...payload.issue, number: 3, pull_request: { url: 'https://x' } },
        comment: { ...payload.comment, id: 9, body },
        ...change,
      });
    expect(said('stepform plan')).toMatchObject({ kind: 'comment', number: 3, commentId: '9' });
    expect(said('stepform plan', { action: 'edited' }).kind).toBe('ignored');
    expect(said('stepform plan', { issue: { number: 3 } }).kind).toBe('ignored');
    expect(said('I ran stepform plan').kind).toBe('ignored');
  });

  it('only the SHA-256 signature of the body with the secret is accepted', () => {
    const body = '{"a":1}';
    const sign = (algorithm: string, text = body, secret = 's') =>
      createHmac(algorithm, secret).update(text).digest('hex');
    const signed = (values: Record<string, string>) => github.isSigned(header(values), body, 's');
    expect(signed({ 'x-hub-signature-256': `sha256=${sign('sha256')}` })).toBe(true);
    expect(signed({})).toBe(false);
    expect(signed({ 'x-hub-signature': `sha1=${sign('sha1')}` })).toBe(false);
    expect(signed({ 'x-hub-signature-256': `sha256=${sign('sha256', '{"a":2}')}` })).toBe(false);
    expect(signed({ 'x-hub-signature-256': `sha256=${sign('sha256', body, 'other')}` })).toBe(false);
    expect(gitea.isSigned(header({ 'x-hub-signature-256': `sha256=${sign('sha256')}` }), body, 's')).toBe(true);
  });
});

describe('GitLab', () => {
  const project = { id: 15, default_branch: 'main', web_url: 'https://gitlab.example/a/b' };
  const [before, after] = ['a'.repeat(40), 'b'.repeat(40)];
  const ofKind = (kind: string, payload: object) =>
    gitlab.eventsOf(header({ 'x-gitlab-event': kind }), {
      project,
      user_username: 'jsmith',
      ...payload,
    })[0] as ForgeEvent;

  it('pushes and tags are read', () => {
    expect(ofKind('Push Hook', { ref: 'refs/heads/main', before, after })).toMatchObject({
      kind: 'push',
      branch: 'main',
      repositoryId: '15',
      sender: { username: 'jsmith', htmlUrl: 'https://gitlab.example/jsmith' },
    });
    expect(ofKind('Push Hook', { ref: 'refs/heads/x', before, after: '0'.repeat(40) }).kind).toBe('gone');
    expect(ofKind('Tag Push Hook', { ref: 'refs/tags/v1', before, after, checkout_sha: before })).toMatchObject({
      kind: 'tag',
      sha: before,
    });
  });

  it.each([
    [{ action: 'open' }, 'pull'],
    [{ action: 'update' }, 'ignored'],
    [{ action: 'update', oldrev: before }, 'pull'],
    [{ action: 'approved' }, 'ignored'],
    [{ action: 'merge' }, 'pull'],
  ])('merge requests are read: %j', (attributes, kind) => {
    const object_attributes = { iid: 7, ...attributes };
    expect(ofKind('Merge Request Hook', { object_attributes }).kind).toBe(kind);
  });

  it.each([
    [{ id: 5, note: 'stepform apply', noteable_type: 'MergeRequest', action: 'create' }, 'comment'],
    [{ id: 5, note: 'stepform apply', noteable_type: 'MergeRequest', action: 'update' }, 'ignored'],
    [{ id: 5, note: 'stepform apply', noteable_type: 'Issue' }, 'ignored'],
    [{ id: 5, note: 'Nice', noteable_type: 'MergeRequest' }, 'ignored'],
  ])('notes are read: %j', (object_attributes, kind) => {
    const user = { username: 'jsmith' };
    expect(ofKind('Note Hook', { user, object_attributes, merge_request: { iid: 7 } })).toMatchObject(
      kind === 'comment' ? { kind, number: 7, commentId: '5' } : { kind },
    );
  });

  it('the token of the webhook is compared', () => {
    expect(gitlab.isSigned(header({ 'x-gitlab-token': 's' }), '', 's')).toBe(true);
    expect(gitlab.isSigned(header({}), '', 's')).toBe(false);
  });
});
