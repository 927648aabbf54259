import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { call, errorText } from '#clients/web/session.ts';

/** Results of webhooks and checks for commits; each delivery can be repeated. */
export const Deliveries = ({ organization }: { organization: string }) => {
  const path = `/organizations/${organization}/vcs-events?page[size]=20`;
  const live = useLive(
    `vcs-events/${organization}`,
    async () => (await call<Resource[]>('GET', path)).data,
    () => 5_000,
  );
  const result = useSignal('');
  const again = async (id: string): Promise<void> => {
    try {
      await call('POST', `/organizations/${organization}/vcs-deliveries/${encodeURIComponent(id)}/actions/redeliver`);
      result.value = 'Delivered again. The result is listed first in a moment.';
    } catch (error) {
      result.value = errorText(error);
    }
  };
  return (
    <Loaded live={live} what="events">
      {(events) =>
        events.length > 0 && (
          <section class="stack">
            <div class="row">
              <h2>Latest deliveries</h2>
              <span class="soft" role="status">
                {result.value}
              </span>
            </div>
            <ul class="panel list" aria-label="Latest deliveries">
              {events.map(({ id, attributes }) => (
                <li key={id}>
                  <div class="item">
                    <span class="break">{attributes.message}</span>
                    <span class="meta">
                      {attributes.level === 'error' && <span class="status bad">error</span>}{' '}
                      <Ago at={attributes['created-at']} />
                      {attributes['suggested-action'] && ` · ${attributes['suggested-action']}`}
                    </span>
                    {attributes['delivery-id'] && (
                      <button type="button" class="end" onClick={() => void again(attributes['delivery-id'])}>
                        Deliver again
                      </button>
                    )}
                  </div>
                </li>
              ))}
            </ul>
          </section>
        )
      }
    </Loaded>
  );
};
