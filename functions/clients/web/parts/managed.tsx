import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import type { Place } from '#clients/client/page-addresses.ts';
import { type Live, useLive } from '../live.ts';
import { go } from '../location.ts';
import { call, change, get } from '../session.ts';
import { Loaded } from './basics.tsx';
import { Confirm, Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Titled } from './head.tsx';
import { Shell } from './shell.tsx';

const everyMs = 15_000;

interface SingleProps<ViewData> {
  /** `policy set` */
  what: string;
  id: string;
  organization: string;
  /** The list view. */
  list: { text: string; to: Place };
  load(): Promise<ViewData>;
  thing(loaded: ViewData): Resource;
  children(loaded: ViewData, live: Live<ViewData>): ComponentChildren;
}

/** View of one item of an organization. */
export function Single<ViewData>({ what, id, organization, list, load, thing, children }: SingleProps<ViewData>) {
  const live = useLive(`${what}/${id}`, load, () => everyMs);
  const name = live.value && thing(live.value).attributes.name;
  return (
    <Shell
      title={name ?? what.charAt(0).toUpperCase() + what.slice(1)}
      crumbs={[{ text: organization, to: { view: 'workspaces', organization } }, list, { text: name ?? id }]}
    >
      <Loaded live={live} what={what}>
        {(loaded) => children(loaded, live)}
      </Loaded>
    </Shell>
  );
}

interface ManagedProps {
  /** `policy set` */
  what: string;
  thing: Resource;
  /** The list view, also shown after deletion. */
  list: Place;
  mayChange: boolean;
  mayDelete: boolean;
  /** Attributes to save, from the form's fields. */
  attributesOf(data: FormData): Record<string, unknown>;
  relationshipsOf?(data: FormData, basis: Resource): Record<string, { data: unknown }>;
  /** Form fields with the values from when the form was opened. */
  fields(thing: Resource): ComponentChildren;
  /** Reads the current item, if its own path does not return all of it. */
  read?(): Promise<Resource>;
  /** Consequences of deletion. */
  consequence: ComponentChildren;
  onChange(): void;
}

const pathOf = ({ type, id }: Resource): string => `/${type}/${id}`;

/** Title of an item, with buttons to change and delete it for users with permission. */
export const Managed = (props: ManagedProps) => {
  const { what, thing, list, mayChange, mayDelete, consequence } = props;
  const asking = useSignal<'change' | 'delete' | undefined>(undefined);
  const { name, description } = thing.attributes;
  const close = () => {
    asking.value = undefined;
  };
  return (
    <>
      <Titled
        title={name}
        description={description}
        onEdit={mayChange && (() => (asking.value = 'change'))}
        onDelete={mayDelete && (() => (asking.value = 'delete'))}
      />
      {asking.value === 'change' && <Change {...props} onClose={close} />}
      {asking.value === 'delete' && (
        <Confirm
          title={`Delete ${name}?`}
          yes={`Delete ${what}`}
          onYes={async () => {
            await call('DELETE', pathOf(thing));
            go(list);
          }}
          onClose={close}
        >
          <p>{consequence}</p>
        </Confirm>
      )}
    </>
  );
};

const Change = (props: ManagedProps & { onClose(): void }) => {
  const { thing, attributesOf, relationshipsOf, fields, read, onChange, onClose } = props;
  // The item is polled; the form keeps its initial values.
  const basis = useSignal(thing);
  const { type, attributes } = basis.value;
  const path = pathOf(thing);
  return (
    <Dialog title={`Change ${attributes.name}`} onClose={onClose}>
      <Form
        key={basis.value.etag}
        submit="Save"
        onCancel={onClose}
        onSubmit={async (data) => {
          const relationships = relationshipsOf?.(data, basis.value);
          await change(path, type, attributesOf(data), { relationships, basis: basis.value });
          onClose();
          onChange();
        }}
        onReload={async () => {
          basis.value = await (read ? read() : get(path));
        }}
      >
        {fields(basis.value)}
      </Form>
    </Dialog>
  );
};
