import type { ComponentChildren, VNode } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { listOf } from '#clients/client/page-addresses.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import { all, create, type Relationships } from '#clients/web/session.ts';
import { capitalized } from '#clients/web/text/lists.ts';
import { Loaded } from './basics.tsx';
import { FormButton } from './dialog.tsx';
import type { Values } from './fields.tsx';
import { type Kind, kinds, type TypeOf } from './kinds.ts';
import { List } from './list.tsx';
import { OrganizationShell } from './organization-shell.tsx';

interface Props<View extends Kind> extends OrganizationProps {
  /** The view of one. */
  view: View;
  /** Shown instead of an empty list, to users with permission to create one. */
  empty?: ComponentChildren;
  /** Shown below the list, to the same users. */
  note?(items: Resource<TypeOf<View>>[]): ComponentChildren;
  /** Related resources to read with the list. */
  include?: string;
  /** An entry that leads to `to`. */
  children(
    item: Resource<TypeOf<View>>,
    to: { view: Kind; organization: string; id: string },
    included: Resource[],
  ): VNode;
  /** Of the form that creates one. */
  fields: ComponentChildren;
  /** What to save, if not just the fields by their names. */
  attributesOf?(fields: Values): Values;
  relationshipsOf?(data: FormData): Relationships;
}

/** An organization's resources of one type: links to their views, and a form that creates one and opens it. */
export const ResourceList = <View extends Kind>(props: Props<View>) => {
  const { organization, view, empty, note, include, children } = props;
  const { type, noun, create: permission } = kinds[view];
  const nouns = `${noun}s`;
  const title = capitalized(nouns);
  const mayCreate = may(organization, permission);
  const path = `/organizations/${organization}/${type}`;
  const live = useLive(path, () => all<TypeOf<View>>(include ? `${path}?include=${include}` : path), 15_000);
  const submit = async (data: FormData, fields: Values) => {
    const attributes = props.attributesOf?.(fields) ?? fields;
    const { id } = await create(path, type, attributes, props.relationshipsOf?.(data));
    go({ view, organization, id });
  };
  return (
    <OrganizationShell
      organization={organization}
      at={listOf(view)}
      title={title}
      action={
        mayCreate && (
          <FormButton text={`New ${noun}`} primary title={`New ${noun}`} submit={`Create ${noun}`} onSubmit={submit}>
            {props.fields}
          </FormButton>
        )
      }
    >
      <Loaded live={live} what={nouns}>
        {({ data: items, included }) => (
          <>
            <List
              label={title}
              of={items}
              none={mayCreate ? empty : `No ${nouns} that you can see. Ask an owner of ${organization} for access.`}
            >
              {(item) => children(item, { view, organization, id: item.id }, included)}
            </List>
            {mayCreate && note?.(items)}
          </>
        )}
      </Loaded>
    </OrganizationShell>
  );
};
