import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '../../cli/client.ts';
import { type Live, useLive } from '../live.ts';
import { go } from '../location.ts';
import type { Place } from '../places.ts';
import { call, change } from '../session.ts';
import { Loaded } from './basics.tsx';
import { Confirm, Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Titled } from './head.tsx';
import { Shell } from './shell.tsx';

const everyMs = 15_000;

interface SingleProps<Known> {
  /** `policy set` */
  what: string;
  id: string;
  organization: string;
  /** Where all of them are. */
  list: { text: string; to: Place };
  load(): Promise<Known>;
  thing(known: Known): Resource;
  children(known: Known, live: Live<Known>): ComponentChildren;
}

/** The page of one thing of an organization. */
export function Single<Known>({ what, id, organization, list, load, thing, children }: SingleProps<Known>) {
  const live = useLive(`${what}/${id}`, load, () => everyMs);
  const name = live.value && thing(live.value).attributes.name;
  return (
    <Shell
      title={name ?? what.charAt(0).toUpperCase() + what.slice(1)}
      crumbs={[{ text: organization, to: { view: 'workspaces', organization } }, list, { text: name ?? id }]}
    >
      <Loaded live={live} what={what}>
        {(known) => children(known, live)}
      </Loaded>
    </Shell>
  );
}

interface ManagedProps {
  /** `policy set` */
  what: string;
  thing: Resource;
  /** Where all of them are, and where one is after it has deleted this. */
  list: Place;
  mayChange: boolean;
  mayDelete: boolean;
  /** Attributes to be saved, of the form with these fields. */
  attributesOf(data: FormData): Record<string, unknown>;
  fields: ComponentChildren;
  /** What follows from deleting it. */
  consequence: ComponentChildren;
  onChange(): void;
}

/** Title of one thing, with the ways to change and to delete it for who may. */
export const Managed = (props: ManagedProps) => {
  const { what, thing, list, mayChange, mayDelete, attributesOf, fields, consequence, onChange } = props;
  const asking = useSignal<'change' | 'delete' | undefined>(undefined);
  const { name, description } = thing.attributes;
  const path = `/${thing.type}/${thing.id}`;
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
      {asking.value === 'change' && (
        <Dialog title={`Change ${name}`} onClose={close}>
          <Form
            submit="Save"
            onCancel={close}
            onSubmit={async (data) => {
              await change(path, thing.type, attributesOf(data));
              close();
              onChange();
            }}
          >
            {fields}
          </Form>
        </Dialog>
      )}
      {asking.value === 'delete' && (
        <Confirm
          title={`Delete ${name}?`}
          yes={`Delete ${what}`}
          onYes={async () => {
            await call('DELETE', path);
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
