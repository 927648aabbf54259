import { afterEach, expect, it, vi } from 'vitest';
import { startAws } from '#test/support/aws.ts';

await startAws();
afterEach(() => void vi.useRealTimers());

it('events are listed newest first, including those of one millisecond', async () => {
  const { listVcsEvents, recordVcsEvent } = await import('#version-control/vcs-events.ts');
  const all = { organization: 'acme', clientId: null, tokenId: null, suggestedAction: null, level: 'info' } as const;
  const messages = Array.from({ length: 40 }, (_, i) => String(i));
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const message of messages) await recordVcsEvent({ ...all, message });
  const now = Date.now();
  const events = await listVcsEvents('acme', new Date(now - 60_000), new Date(now));
  expect(events.map(({ message }) => message)).toEqual(messages.reverse());
});
