import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import { listOf, type SingleView } from '#clients/client/page-addresses.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may, type OrganizationPermission } from '#clients/web/organization.ts';
import { all, create } from '#clients/web/session.ts';
import { Loaded } from './basics.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Head } from './head.tsx';
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
  /** An item, inside of its link. */
  line(item: Resource<T>): ComponentChildren;
  /** Of the form that creates one. */
  fields: ComponentChildren;
  attributesOf(data: FormData): Record<string, unknown>;
  relationshipsOf?(data: FormData): Record<string, { data: unknown }>;
}

/** An organization's resources of one type: links to their views, and a form that creates one and opens it. */
export const ResourceList = <T extends ResourceType>(props: Props<T>) => {
  const { organization, noun, type, view, permission, empty, note, line } = props;
  const nouns = `${noun}s`;
  const title = `${nouns.charAt(0).toUpperCase()}${nouns.slice(1)}`;
  const path = `/organizations/${organization}/${type}`;
  const live = useLive(
    `${view}-list/${organization}`,
    async () => (await all<T>(path)).data,
    () => 15_000,
  );
  const adding = useSignal(false);
  const close = () => {
    adding.value = false;
  };
  const submit = async (data: FormData) => {
    const { id } = await create(path, type, props.attributesOf(data), props.relationshipsOf?.(data));
    go({ view, organization, id });
  };
  return (
    <OrganizationShell organization={organization} at={listOf(view)}>
      <Head title={title} add={`New ${noun}`} onAdd={may(organization, permission) && (() => (adding.value = true))} />
      <Loaded live={live} what={nouns}>
        {(items) => (
          <>
            {items.length === 0 && empty ? (
              <p class="panel pad soft">{empty}</p>
            ) : (
              <ul class="panel list" aria-label={title}>
                {items.map((item) => (
                  <li key={item.id}>
                    <a class="item" href={hrefOf({ view, organization, id: item.id })}>
                      {line(item)}
                    </a>
                  </li>
                ))}
              </ul>
            )}
            {note?.(items)}
          </>
        )}
      </Loaded>
      {adding.value && (
        <Dialog title={`New ${noun}`} onClose={close}>
          <Form submit={`Create ${noun}`} onSubmit={submit} onCancel={close}>
            {props.fields}
          </Form>
        </Dialog>
      )}
    </OrganizationShell>
  );
};
