import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import { listOf, type SingleView } from '#clients/client/page-addresses.ts';
import { useList } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { may, type OrganizationPermission } from '#clients/web/organization.ts';
import { create, type Relationships } from '#clients/web/session.ts';
import { capitalized } from '#clients/web/text/lists.ts';
import { Loaded } from './basics.tsx';
import { FormDialog } from './dialog.tsx';
import type { Values } from './form.tsx';
import { Head } from './head.tsx';
import { List } from './list.tsx';
import { OrganizationShell } from './organization-shell.tsx';

interface Props<T extends ResourceType> {
  organization: string;
  /** `agent pool` */
  noun: string;
  type: T;
  /** The view of one. */
  view: SingleView;
  /** Permission to create one. */
  permission: OrganizationPermission;
  /** Shown instead of an empty list. */
  empty?: ComponentChildren;
  /** Shown below the list. */
  note?(items: Resource<T>[]): ComponentChildren;
  /** An entry that leads to `to`. */
  children(item: Resource<T>, to: { view: SingleView; organization: string; id: string }): VNode;
  /** Of the form that creates one. */
  fields: ComponentChildren;
  /** What to save, if not just the fields by their names. */
  attributesOf?(fields: Values): Values;
  relationshipsOf?(data: FormData): Relationships;
}

/** An organization's resources of one type: links to their views, and a form that creates one and opens it. */
export const ResourceList = <T extends ResourceType>(props: Props<T>) => {
  const { organization, noun, type, view, permission, empty, note, children } = props;
  const nouns = `${noun}s`;
  const title = capitalized(nouns);
  const path = `/organizations/${organization}/${type}`;
  const live = useList<T>(path, 15_000);
  const adding = useSignal(false);
  const submit = async (data: FormData, fields: Values) => {
    const attributes = props.attributesOf?.(fields) ?? fields;
    const { id } = await create(path, type, attributes, props.relationshipsOf?.(data));
    go({ view, organization, id });
  };
  return (
    <OrganizationShell organization={organization} at={listOf(view)}>
      <Head title={title} add={`New ${noun}`} onAdd={may(organization, permission) && (() => (adding.value = true))} />
      <Loaded live={live} what={nouns}>
        {(items) => (
          <>
            <List label={title} of={items} none={empty}>
              {(item) => children(item, { view, organization, id: item.id })}
            </List>
            {note?.(items)}
          </>
        )}
      </Loaded>
      {adding.value && (
        <FormDialog
          title={`New ${noun}`}
          submit={`Create ${noun}`}
          onSubmit={submit}
          onClose={() => (adding.value = false)}
        >
          {props.fields}
        </FormDialog>
      )}
    </OrganizationShell>
  );
};
