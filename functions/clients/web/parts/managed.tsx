import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import { listOf, type SingleView } from '#clients/client/page-addresses.ts';
import { type Live, useLive } from '../live.ts';
import { go } from '../location.ts';
import { useOrganization } from '../organization.ts';
import { call } from '../session.ts';
import { capitalized } from '../text/lists.ts';
import { DialogButton } from './button.tsx';
import { ConfirmButton, EditDialog, type EditProps } from './dialog.tsx';
import { Titled } from './head.tsx';
import { Page } from './page.tsx';

interface SingleProps<ViewData> {
  /** `policy set` */
  what: string;
  view: SingleView;
  id: string;
  organization: string;
  load(): Promise<ViewData>;
  thing(loaded: ViewData): Resource;
  children(loaded: ViewData, live: Live<ViewData>): ComponentChildren;
}

/** View of one item of an organization. */
export const Single = <ViewData,>({ what, view, id, organization, load, thing, children }: SingleProps<ViewData>) => {
  useOrganization(organization);
  const live = useLive(`${what}/${id}`, load, 15_000);
  const name = live.value && thing(live.value).attributes.name;
  const list = { text: `${capitalized(what)}s`, to: { view: listOf(view), organization } };
  return (
    <Page
      title={name ?? capitalized(what)}
      organization={organization}
      crumbs={[list, { text: name ?? id }]}
      live={live}
      what={what}
    >
      {(loaded) => children(loaded, live)}
    </Page>
  );
};

interface ManagedProps<T extends ResourceType>
  extends Pick<EditProps<T>, 'valuesOf' | 'attributesOf' | 'relationshipsOf' | 'read'> {
  /** `policy set` */
  what: string;
  view: SingleView;
  organization: string;
  resource: Resource<T>;
  mayChange: boolean;
  mayDelete?: boolean;
  /** Fields of the form that changes it. */
  fields(current: Resource<T> | undefined): ComponentChildren;
  /** Consequences of deletion. */
  consequence: ComponentChildren;
  onChange(): void;
}

/** Title of an item, with buttons to change and delete it for users with permission. */
export const Managed = <T extends ResourceType>(props: ManagedProps<T>) => {
  const { what, view, organization, resource, mayChange, mayDelete = mayChange, fields, consequence, onChange } = props;
  const { name, description } = resource.attributes as { name: string; description?: string | null };
  const remove = async () => {
    await call('DELETE', `/${resource.type}/${resource.id}`);
    go({ view: listOf(view), organization });
  };
  return (
    <Titled title={name} description={description}>
      {mayChange && (
        <DialogButton text="Change" onClose={onChange}>
          {(close) => (
            <EditDialog {...props} title={`Change ${name}`} submit="Save" type={resource.type as T} onClose={close}>
              {fields}
            </EditDialog>
          )}
        </DialogButton>
      )}
      {mayDelete && (
        <ConfirmButton text="Delete" title={`Delete ${name}?`} yes={`Delete ${what}`} onYes={remove}>
          <p>{consequence}</p>
        </ConfirmButton>
      )}
    </Titled>
  );
};
