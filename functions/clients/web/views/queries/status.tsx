import type { Resource } from '#clients/client/client.ts';

const tones: Record<string, string> = {
  pending: 'waiting',
  queued: 'waiting',
  running: 'running',
  finished: 'good',
  errored: 'bad',
};

export const QueryStatus = ({ query: { attributes } }: { query: Resource<'queries'> }) => (
  <span class={`status ${tones[attributes.status] ?? 'neutral'}`}>{attributes.status}</span>
);
