import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { listOf } from '#clients/client/page-addresses.ts';
import { type Live, useLive } from '../live.ts';
import { go } from '../location.ts';
import { type OrganizationProps, useOrganization } from '../organization.ts';
import { call } from '../session.ts';
import { capitalized } from '../text/lists.ts';
import { DialogButton } from './button.tsx';
import { ConfirmButton, EditDialog, type EditProps } from './dialog.tsx';
import { Titled } from './head.tsx';
import { type Kind, kinds, type TypeOf } from './kinds.ts';
import { Page } from './page.tsx';

/** Address of a single item's view. */
export interface SingleAddress extends OrganizationProps {
  id: string;
}

interface SingleProps<ViewData> extends SingleAddress {
  view: Kind;
  load(): Promise<ViewData>;
  thing(loaded: ViewData): Resource;
  children(loaded: ViewData, live: Live<ViewData>): ComponentChildren;
}

/** View of one item of an organization. */
export const Single = <ViewData,>({ view, id, organization, load, thing, children }: SingleProps<ViewData>) => {
  const { noun } = kinds[view];
  useOrganization(organization);
  const live = useLive(`${noun}/${id}`, load, 15_000);
  const name = live.value && thing(live.value).attributes.name;
  const list = { text: `${capitalized(noun)}s`, to: { view: listOf(view), organization } };
  return (
    <Page
      title={name ?? capitalized(noun)}
      organization={organization}
      crumbs={[list, { text: name ?? id }]}
      live={live}
      what={noun}
    >
      {(loaded) => children(loaded, live)}
    </Page>
  );
};

interface ManagedProps<View extends Kind>
  extends OrganizationProps,
    Pick<EditProps<TypeOf<View>>, 'valuesOf' | 'attributesOf' | 'relationshipsOf' | 'read'> {
  view: View;
  resource: Resource<TypeOf<View>>;
  mayChange: boolean;
  mayDelete?: boolean;
  /** Fields of the form that changes it. */
  fields(current: Resource<TypeOf<View>> | undefined): ComponentChildren;
  /** Consequences of deletion. */
  consequence: ComponentChildren;
  onChange(): void;
}

/** Title of an item, with buttons to change and delete it for users with permission. */
export const Managed = <View extends Kind>(props: ManagedProps<View>) => {
  const { view, organization, resource, mayChange, mayDelete = mayChange, fields, consequence, onChange } = props;
  const { type, noun } = kinds[view];
  const { name, description } = resource.attributes as { name: string; description?: string | null };
  const remove = async () => {
    await call('DELETE', `/${type}/${resource.id}`);
    go({ view: listOf(view), organization });
  };
  return (
    <Titled title={name} description={description}>
      {mayChange && (
        <DialogButton text="Change" onClose={onChange}>
          {(close) => (
            <EditDialog<TypeOf<View>> {...props} title={`Change ${name}`} submit="Save" type={type} onClose={close}>
              {fields}
            </EditDialog>
          )}
        </DialogButton>
      )}
      {mayDelete && (
        <ConfirmButton text="Delete" title={`Delete ${name}?`} yes={`Delete ${noun}`} onYes={remove}>
          <p>{consequence}</p>
        </ConfirmButton>
      )}
    </Titled>
  );
};
