import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count, exactTime } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { all, call, errorText, related } from '#clients/web/session.ts';

/** Workspaces deleted within the last week: recover or delete permanently. */
export const DeletedWorkspaces = ({ organization }: { organization: string }) => {
  const live = useLive(
    `deleted-workspaces/${organization}`,
    () => all<'recoverable-items'>(`/organizations/${organization}/recoverable-items?include=recoverable`),
    () => 60_000,
  );
  return (
    <section class="panel pad stack" aria-label="Deleted workspaces">
      <h2>Deleted workspaces</h2>
      <Loaded live={live} what="deleted workspaces">
        {({ data, included }) =>
          data.length === 0 ? (
            <p class="soft">No deleted workspaces. A workspace can be recovered for seven days after its deletion.</p>
          ) : (
            <ul class="list" aria-label="Deleted workspaces">
              {data.map((item) => (
                <Line
                  key={item.id}
                  item={item}
                  mayAct={included.some(
                    ({ id, attributes }) =>
                      id === related(item, 'recoverable') && attributes.permissions?.['can-destroy'],
                  )}
                  onDone={() => live.refresh()}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
};

const Line = ({ item, mayAct, onDone }: { item: Resource<'recoverable-items'>; mayAct: boolean; onDone(): void }) => {
  const {
    'recoverable-name': name,
    'deleted-at': from,
    'expires-at': to,
    'unmanaged-resources': left,
  } = item.attributes;
  const failed = useSignal<string | undefined>(undefined);
  const deleting = useSignal(false);
  const act = async (action: 'recover' | 'permanently-delete') => {
    await call('PUT', `/recoverable-items/${item.id}/actions/${action}`);
    onDone();
  };
  const recover = async () => {
    try {
      await act('recover');
    } catch (error) {
      failed.value = errorText(error);
    }
  };
  return (
    <li class="stack tight">
      <div class="row spread">
        <span class="grow">
          <span class="title">{name}</span>{' '}
          <span class="soft small">
            deleted <Ago at={from} />, recoverable until {exactTime(to)}
            {left > 0 && `, left ${count(left, 'resource')}`}
          </span>
        </span>
        {mayAct && (
          <span class="row">
            <SmallButton text="Recover" of={name} onClick={recover} />
            <SmallButton text="Delete" of={`${name} permanently`} danger onClick={() => (deleting.value = true)} />
          </span>
        )}
      </div>
      {failed.value && <Notice kind="bad">{failed.value}</Notice>}
      {deleting.value && (
        <Confirm
          title={`Delete ${name} permanently?`}
          yes="Delete permanently"
          typed={name}
          onYes={() => act('permanently-delete')}
          onClose={() => (deleting.value = false)}
        >
          <p>Its states, variables and runs are deleted. This cannot be undone.</p>
        </Confirm>
      )}
    </li>
  );
};
