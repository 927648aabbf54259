import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Button } from '#clients/web/parts/button.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { call, errorText } from '#clients/web/session.ts';

/** Results of webhooks and checks for commits; each delivery can be repeated. */
export const Deliveries = ({ organization }: OrganizationProps) => {
  const at = `/organizations/${organization}`;
  const live = useLive(
    `vcs-events/${organization}`,
    async () => (await call<Resource[]>('GET', `${at}/vcs-events?page[size]=20`)).data,
    5_000,
  );
  const result = useSignal('');
  const again = (id: string) =>
    call('POST', `${at}/vcs-deliveries/${encodeURIComponent(id)}/actions/redeliver`).then(
      () => (result.value = 'Delivered again. The result is listed first in a moment.'),
      (error) => (result.value = errorText(error)),
    );
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
            <List label="Latest deliveries" of={events}>
              {({ id, attributes }) => (
                <Item
                  key={id}
                  title={<span class="break">{attributes.message}</span>}
                  meta={
                    <>
                      {attributes.level === 'error' && <span class="status bad">error</span>}{' '}
                      <Ago at={attributes['created-at']} />
                      {attributes['suggested-action'] && ` · ${attributes['suggested-action']}`}
                    </>
                  }
                >
                  {attributes['delivery-id'] && (
                    <Button text="Deliver again" onClick={() => again(attributes['delivery-id'])} />
                  )}
                </Item>
              )}
            </List>
          </section>
        )
      }
    </Loaded>
  );
};
