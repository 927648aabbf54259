import type { Resource } from '#clients/client/client.ts';
import { count, exactTime } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { Line, List } from '#clients/web/parts/list.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { all, call, related } from '#clients/web/session.ts';

/** Workspaces deleted within the last week: recover or delete permanently. */
export const DeletedWorkspaces = ({ organization }: OrganizationProps) => {
  const path = `/organizations/${organization}/recoverable-items?include=recoverable`;
  const live = useLive(path, () => all<'recoverable-items'>(path), 60_000);
  return (
    <Panel title="Deleted workspaces">
      <Loaded live={live} what="deleted workspaces">
        {({ data, included }) => (
          <List
            label="Deleted workspaces"
            of={data}
            plain
            none="No deleted workspaces. A workspace can be recovered for seven days after its deletion."
          >
            {(item) => {
              const deleted = included.find(({ id }) => id === related(item, 'recoverable'));
              const mayAct = deleted?.attributes.permissions?.['can-destroy'] === true;
              return <Deleted key={item.id} item={item} mayAct={mayAct} onDone={live.refresh} />;
            }}
          </List>
        )}
      </Loaded>
    </Panel>
  );
};

interface DeletedProps {
  item: Resource<'recoverable-items'>;
  mayAct: boolean;
  onDone(): void;
}

const Deleted = ({ item, mayAct, onDone }: DeletedProps) => {
  const {
    'recoverable-name': name,
    'deleted-at': from,
    'expires-at': to,
    'unmanaged-resources': left,
  } = item.attributes;
  const act = (action: string) => call('PUT', `/recoverable-items/${item.id}/actions/${action}`);
  return (
    <Line
      title={
        <>
          <span class="title">{name}</span>{' '}
          <span class="soft small">
            deleted <Ago at={from} />, recoverable until {exactTime(to)}
            {left > 0 && `, left ${count(left, 'resource')}`}
          </span>
        </>
      }
    >
      {mayAct && (
        <>
          <ActionButton small text="Recover" of={name} work={() => act('recover')} onDone={onDone} />
          <ConfirmButton
            small
            text="Delete"
            of={`${name} permanently`}
            yes="Delete permanently"
            typed={name}
            onYes={() => act('permanently-delete')}
            onClose={onDone}
          >
            <p>Its states, variables and runs are deleted. This cannot be undone.</p>
          </ConfirmButton>
        </>
      )}
    </Line>
  );
};
