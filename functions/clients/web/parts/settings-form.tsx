import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import { change, changed, get } from '../session.ts';
import { Notice } from './basics.tsx';
import type { EditProps } from './dialog.tsx';
import type { Values } from './fields.tsx';
import { Form } from './form.tsx';

interface Props<T extends ResourceType> extends Pick<EditProps<T>, 'valuesOf' | 'attributesOf' | 'relationshipsOf'> {
  resource: Resource<T>;
  /** API path. */
  path: string;
  readOnly: boolean;
  onSaved(saved: Resource<T>, before: Resource<T>): void;
  children(current: Resource<T>): ComponentChildren;
}

/** Settings of a resource: fields have the names of its attributes. */
export const SettingsForm = <T extends ResourceType>(props: Props<T>) => {
  const { resource, path, readOnly, onSaved, children } = props;
  const saved = useSignal(false);
  // The resource is polled; the form keeps its initial values.
  const basis = useSignal(resource);
  const reloads = useSignal(0);
  const before = basis.value;
  const values = props.valuesOf?.(before) ?? before.attributes;
  const submit = async (data: FormData, fields: Values) => {
    saved.value = false;
    const attributes = changed(props.attributesOf?.(fields, data, before) ?? fields, values);
    const relationships = props.relationshipsOf?.(data, before);
    basis.value = await change(path, before.type, attributes, { relationships, basis: before });
    saved.value = true;
    onSaved(basis.value, before);
  };
  const reload = async () => {
    basis.value = await get<T>(path);
    reloads.value++;
  };
  return (
    <Form
      key={reloads.value}
      submit="Save settings"
      values={values}
      readOnly={readOnly}
      onSubmit={submit}
      onReload={reload}
    >
      {children(before)}
      {saved.value && <Notice kind="good">Saved.</Notice>}
    </Form>
  );
};
