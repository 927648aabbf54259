import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useEntry } from '#clients/web/editing.ts';
import type { Live } from '#clients/web/live.ts';
import { may, useOrganization } from '#clients/web/organization.ts';
import { Attached, type Item } from '#clients/web/parts/attached.tsx';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { Managed, Single } from '#clients/web/parts/managed.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { all, call, change, create, errorText, get } from '#clients/web/session.ts';
import { IpAllowlistFields, ipAllowlistOf, related, scopeNames } from './ip-allowlists.tsx';

type List = Resource<'cidr-range-lists'>;
type Range = Resource<'cidr-ranges'>;

interface ViewData {
  list: List;
  ranges: Range[];
  /** IP address of the user's requests. */
  address: string | undefined;
  /** Agent pools of the organization to select from. */
  pools: Item[];
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
export const IpAllowlistView = ({ organization, id }: { organization: string; id: string }) => {
  useOrganization(organization);
  return (
    <Single
      what="IP allowlist"
      id={id}
      organization={organization}
      list={{ text: 'IP allowlists', to: { view: 'ip-allowlists', organization } }}
      load={() => load(organization, id)}
      thing={({ list }) => list}
    >
      {(loaded, live) => <IpAllowlist {...loaded} organization={organization} live={live} />}
    </Single>
  );
};

const IpAllowlist = (props: ViewData & { organization: string; live: Live<ViewData> }) => {
  const { list, pools, organization, live } = props;
  const mayChange = may(organization, 'can-manage-ip-allowlists');
  const scope = list.attributes['enforcement-scope'];
  const selected = new Set(related(list, 'agent-pools'));
  const relate = (method: 'POST' | 'DELETE', id: string) =>
    call(method, `/cidr-range-lists/${list.id}/relationships/agent-pools`, { data: [{ type: 'agent-pools', id }] });
  return (
    <>
      <Managed
        what="IP allowlist"
        thing={list}
        list={{ view: 'ip-allowlists', organization }}
        mayChange={mayChange}
        mayDelete={mayChange}
        attributesOf={ipAllowlistOf}
        fields={(basis) => <IpAllowlistFields list={basis as List} />}
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
              removing={(name) => `agent pool ${name}`}
              onAdd={(id) => relate('POST', id)}
              onRemove={(id) => relate('DELETE', id)}
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
  const { editing, removing, close } = useEntry<Range>(onChange);
  const problem = useSignal<string | undefined>(undefined);
  const toggle = (range: Range) =>
    change(`/cidr-ranges/${range.id}`, 'cidr-ranges', { enabled: !range.attributes.enabled }).then(
      () => {
        problem.value = undefined;
        onChange();
      },
      (error) => {
        problem.value = errorText(error);
      },
    );
  const enforced = ranges.some(({ attributes }) => attributes.enabled);
  return (
    <section class="stack" aria-label="Ranges">
      <div class="row spread">
        <h2>Ranges</h2>
        {mayChange && (
          <button type="button" onClick={() => (editing.value = 'new')}>
            Add range
          </button>
        )}
      </div>
      {!enforced && (
        <Notice kind="warn">
          Not enforced: a list without an enabled range restricts nothing. Add or enable a range.
        </Notice>
      )}
      {problem.value && <Notice kind="bad">{problem.value}</Notice>}
      {ranges.length > 0 && (
        <ul class="panel list" aria-label="Ranges">
          {ranges.map((range) => (
            <Line
              key={range.id}
              range={range}
              may={mayChange}
              onToggle={() => toggle(range)}
              onEdit={() => (editing.value = range)}
              onRemove={() => (removing.value = range)}
            />
          ))}
        </ul>
      )}
      {address && (
        <p class="soft">
          Your requests come from <code>{address}</code>.
        </p>
      )}
      {editing.value && (
        <EditRange
          list={list}
          range={editing.value === 'new' ? undefined : editing.value}
          address={address}
          onClose={close}
        />
      )}
      {removing.value && (
        <Confirm
          title={`Remove ${removing.value.attributes.range}?`}
          yes="Remove range"
          onYes={() => call('DELETE', `/cidr-ranges/${removing.value?.id}`)}
          onClose={close}
        >
          <p>Requests from these addresses are refused immediately, unless another range contains them.</p>
        </Confirm>
      )}
    </section>
  );
};

interface LineProps {
  range: Range;
  may: boolean;
  onToggle(): void;
  onEdit(): void;
  onRemove(): void;
}

const Line = ({ range, may: mayChange, onToggle, onEdit, onRemove }: LineProps) => {
  const { range: text, description, enabled } = range.attributes;
  return (
    <li class="item">
      <span class="row">
        <code class="break">{text}</code>
        {!enabled && <span class="tag">disabled</span>}
      </span>
      {description && <span class="meta break">{description}</span>}
      {mayChange && (
        <span class="end">
          <span class="row">
            <button
              type="button"
              class="small-button"
              aria-label={`${enabled ? 'Disable' : 'Enable'} ${text}`}
              onClick={onToggle}
            >
              {enabled ? 'Disable' : 'Enable'}
            </button>
            <SmallButton text="Change" of={text} onClick={onEdit} />
            <SmallButton text="Remove" of={text} danger onClick={onRemove} />
          </span>
        </span>
      )}
    </li>
  );
};

interface EditProps {
  list: List;
  range: Range | undefined;
  address: string | undefined;
  onClose(): void;
}

const EditRange = ({ list, range, address, onClose }: EditProps) => {
  const submit = async (data: FormData) => {
    const attributes = {
      range: textOf(data, 'range'),
      description: textOf(data, 'description') ?? null,
      enabled: data.has('enabled'),
    };
    if (range) await change(`/cidr-ranges/${range.id}`, 'cidr-ranges', attributes);
    else await create(`/cidr-range-lists/${list.id}/relationships/cidr-ranges`, 'cidr-ranges', attributes);
    onClose();
  };
  return (
    <Dialog title={range ? `Change ${range.attributes.range}` : 'Add a range'} onClose={onClose}>
      <Form submit={range ? 'Save' : 'Add range'} onSubmit={submit} onCancel={onClose}>
        <Text
          label="Range"
          name="range"
          required
          autoFocus
          value={range?.attributes.range}
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
        <Text label="Description" name="description" value={range?.attributes.description ?? ''} />
        <Choice name="enabled" label="Enabled" checked={range?.attributes.enabled ?? true} />
      </Form>
    </Dialog>
  );
};
