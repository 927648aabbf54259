import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import type { Values } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { AutoApply, NewWorkspaceFields, newWorkspaceIn } from '#clients/web/parts/new-workspace.tsx';
import { create } from '#clients/web/session.ts';
import type { ModuleAddress } from './module-api.ts';
import { type Offer, readOffer, VariableFields, valuesIn } from './module-variables.tsx';

interface Props {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
}

/** A workspace from a module: its name, and values for the module's variables. */
export const NewFromModule = (props: Props) =>
  props.module.attributes['no-code'] ? (
    <OfferOfModule {...props} />
  ) : (
    <Notice kind="warn">
      This module is not offered for workspaces. Teams that publish modules enable it under No-code.
    </Notice>
  );

const OfferOfModule = ({ module, address }: Props) => {
  const live = useLive(`new workspace ${module.id}`, () => readOffer(module, address));
  return (
    <Loaded live={live} what="variables">
      {(offer) => <Fields offer={offer} module={module} organization={address.organization} />}
    </Loaded>
  );
};

interface FieldsProps extends OrganizationProps {
  offer: Offer;
  module: Resource<'registry-modules'>;
}

const Fields = ({ offer: { id, version, variables }, module, organization }: FieldsProps) => {
  const submit = async (data: FormData, fields: Values) => {
    const { attributes, relationships } = newWorkspaceIn(fields);
    const workspace = await create(`/no-code-modules/${id}/workspaces`, 'workspaces', attributes, {
      ...relationships,
      vars: { data: valuesIn(data, variables) },
    });
    go({ view: 'workspace', organization, workspace: workspace.attributes.name, tab: 'overview' });
  };
  return (
    <section class="panel pad stack narrow" aria-label="New workspace">
      <h2>
        New workspace from {module.attributes.name} {version}
      </h2>
      <Form submit="Create workspace" onSubmit={submit}>
        <NewWorkspaceFields organization={organization} />
        <VariableFields legend="Variables" variables={variables} />
        <AutoApply />
      </Form>
    </section>
  );
};
