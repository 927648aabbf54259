import { type Resource, relatedIds } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import { Attached, type Item as Attachment, relating } from '#clients/web/parts/attached.tsx';
import { Notice } from '#clients/web/parts/basics.tsx';
import { ActionButton, DialogButton } from '#clients/web/parts/button.tsx';
import { DeleteButton, EditDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Text } from '#clients/web/parts/fields.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Managed, Single, type SingleAddress } from '#clients/web/parts/managed.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { all, call, change, get } from '#clients/web/session.ts';
import { IpAllowlistFields, scopeNames } from './ip-allowlists.tsx';

type Range = Resource<'cidr-ranges'>;

interface ViewData {
  list: Resource<'cidr-range-lists'>;
  ranges: Range[];
  /** IP address of the user's requests. */
  address: string | undefined;
  /** Agent pools of the organization to select from. */
  pools: Attachment[];
}

const load = async (organization: string, id: string): Promise<ViewData> => {
  const path = `/cidr-range-lists/${encodeURIComponent(id)}`;
  const rangesPath = `${path}/relationships/cidr-ranges`;
  const [list, first] = await Promise.all([
    get<'cidr-range-lists'>(path),
    call<Range[]>('GET', `${rangesPath}?page[size]=100`),
  ]);
  const isWhole = !first.meta?.pagination?.['next-page'];
  const selects = list.attributes['enforcement-scope'] === 'selected_agent_pools';
  const pools = selects ? (await all<'agent-pools'>(`/organizations/${organization}/agent-pools`)).data : [];
  return {
    list,
    ranges: isWhole ? first.data : (await all<'cidr-ranges'>(rangesPath)).data,
    address: first.meta?.['request-address'] ?? undefined,
    pools: pools.map((pool) => ({
      id: pool.id,
      name: pool.attributes.name,
      to: { view: 'agent-pool', organization, id: pool.id },
    })),
  };
};

/** One IP allowlist: its ranges and scope. */
export const IpAllowlistView = (at: SingleAddress) => (
  <Single {...at} view="ip-allowlist" load={() => load(at.organization, at.id)} thing={({ list }) => list}>
    {(loaded, live) => <IpAllowlist {...loaded} organization={at.organization} live={live} />}
  </Single>
);

const IpAllowlist = (props: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { list, pools, organization, live } = props;
  const mayChange = may(organization, 'can-manage-ip-allowlists');
  const scope = list.attributes['enforcement-scope'];
  const selected = new Set(relatedIds(list, 'agent-pools'));
  return (
    <>
      <Managed
        view="ip-allowlist"
        organization={organization}
        resource={list}
        mayChange={mayChange}
        fields={() => <IpAllowlistFields />}
        consequence="Its restrictions end immediately."
        onChange={live.refresh}
      />
      <div class="sides">
        <Ranges {...props} may={mayChange} onChange={live.refresh} />
        <aside class="panel pad stack" aria-label="Scope">
          <h2>Applies to</h2>
          {scope === 'selected_agent_pools' ? (
            <Attached
              items={pools.filter(({ id }) => selected.has(id))}
              others={pools}
              may={mayChange}
              none="No agent pools yet. Select one to restrict where its agents connect from."
              adding="Apply to an agent pool"
              prompt="Apply to …"
              noun="agent pool"
              {...relating(`/cidr-range-lists/${list.id}/relationships/agent-pools`)}
              onChange={live.refresh}
            />
          ) : (
            <p>
              {scopeNames[scope]}
              {scope === 'organization' && '. Owners, runs, webhooks of repositories and agents are not restricted'}.
            </p>
          )}
        </aside>
      </div>
    </>
  );
};

const Ranges = ({ list, ranges, address, may: mayChange, onChange }: ViewData & { may: boolean; onChange(): void }) => {
  const edit = (close: () => void, range?: Range) => (
    <EditRange list={list} range={range} address={address} onClose={close} />
  );
  return (
    <Section
      title="Ranges"
      action={
        mayChange && (
          <DialogButton text="Add range" onClose={onChange}>
            {(close) => edit(close)}
          </DialogButton>
        )
      }
    >
      {!ranges.some(({ attributes }) => attributes.enabled) && (
        <Notice kind="warn">
          Not enforced: a list without an enabled range restricts nothing. Add or enable a range.
        </Notice>
      )}
      {ranges.length > 0 && (
        <List label="Ranges" of={ranges}>
          {(range) => {
            const { range: text, description, enabled } = range.attributes;
            const path = `/cidr-ranges/${range.id}`;
            return (
              <Item
                key={range.id}
                title={<code class="break">{text}</code>}
                tags={[!enabled && 'disabled']}
                meta={description}
              >
                {mayChange && (
                  <>
                    <ActionButton
                      small
                      text={enabled ? 'Disable' : 'Enable'}
                      of={text}
                      work={() => change(path, 'cidr-ranges', { enabled: !enabled })}
                      onDone={onChange}
                    />
                    <DialogButton small text="Change" of={text} onClose={onChange}>
                      {(close) => edit(close, range)}
                    </DialogButton>
                    <DeleteButton text="Remove" of={text} noun="range" path={path} onClose={onChange}>
                      Requests from these addresses are refused immediately, unless another range contains them.
                    </DeleteButton>
                  </>
                )}
              </Item>
            );
          }}
        </List>
      )}
      {address && (
        <p class="soft">
          Your requests come from <code>{address}</code>.
        </p>
      )}
    </Section>
  );
};

interface EditProps extends Pick<ViewData, 'list' | 'address'> {
  range: Range | undefined;
  onClose(): void;
}

const EditRange = ({ list, range, address, onClose }: EditProps) => (
  <EditDialog
    title={range ? `Change ${range.attributes.range}` : 'Add a range'}
    submit={range ? 'Save' : 'Add range'}
    type="cidr-ranges"
    resource={range}
    collection={`/cidr-range-lists/${list.id}/relationships/cidr-ranges`}
    onClose={onClose}
  >
    {() => (
      <>
        <Text
          label="Range"
          name="range"
          required
          autoFocus
          placeholder="203.0.113.0/24"
          hint={
            <>
              In CIDR notation, IPv4 or IPv6.
              {address && (
                <>
                  {' '}
                  Your address only:{' '}
                  <code>
                    {address}/{address.includes(':') ? 128 : 32}
                  </code>
                  .
                </>
              )}
            </>
          }
        />
        <Text label="Description" name="description" />
        <Choice name="enabled" label="Enabled" initial />
      </>
    )}
  </EditDialog>
);
