import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import { call, change, changed, create, get, type Relationships } from '../session.ts';
import { type ButtonProps, DialogButton } from './button.tsx';
import { Field, type Values } from './fields.tsx';
import { Form, type FormProps } from './form.tsx';

interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** A modal dialog; Escape closes it, and the focus returns to where it was. */
export const Dialog = ({ title, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement as HTMLElement | null;
    element?.showModal();
    return () => {
      element?.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
};

type FormDialogProps = DialogProps & Omit<FormProps, 'onCancel'> & { version?: string };

/** A form in a dialog, which closes once the form is submitted. @param version of the values: another one starts over */
export const FormDialog = ({ title, onClose, onSubmit, version, ...form }: FormDialogProps) => {
  const submit: FormProps['onSubmit'] = async (...fields) => {
    await onSubmit(...fields);
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form key={version} {...form} onSubmit={submit} onCancel={onClose} />
    </Dialog>
  );
};

type FormButtonProps = ButtonProps & Omit<FormDialogProps, 'onClose'> & { onClose?(): void };

/** A button that opens a form. */
export const FormButton = ({
  text,
  of,
  label,
  small,
  primary,
  danger,
  disabled,
  onClose,
  ...form
}: FormButtonProps) => (
  <DialogButton {...{ text, of, label, small, primary, danger, disabled, onClose }}>
    {(close) => <FormDialog {...form} onClose={close} />}
  </DialogButton>
);

interface ConfirmProps {
  title: string;
  /** Label of the button. */
  yes: string;
  /** Text to type before the action, against accidental deletion. */
  typed?: string;
  onYes(data: FormData): Promise<unknown>;
  onClose(): void;
  /** The consequences. */
  children: ComponentChildren;
}

/** Asks for confirmation before an action that cannot be undone. */
const Confirm = ({ title, yes, typed, onYes, onClose, children }: ConfirmProps) => {
  const confirmation = useSignal('');
  const disabled = typed !== undefined && confirmation.value !== typed;
  return (
    <FormDialog title={title} submit={yes} danger disabled={disabled} onSubmit={onYes} onClose={onClose}>
      {children}
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`}>
          {(attributes) => (
            <input
              {...attributes}
              autoComplete="off"
              onInput={(event) => (confirmation.value = event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </FormDialog>
  );
};

interface ConfirmButtonProps extends ButtonProps, Omit<ConfirmProps, 'title' | 'onClose'> {
  /** Default: the button's text and what it acts on. */
  title?: string;
  onClose?(): void;
}

/** A button for an action that cannot be undone. */
export const ConfirmButton = ({ title, yes, typed, onYes, children, ...button }: ConfirmButtonProps) => (
  <DialogButton danger {...button}>
    {(close) => (
      <Confirm title={title ?? `${button.text} ${button.of}?`} yes={yes} typed={typed} onYes={onYes} onClose={close}>
        {children}
      </Confirm>
    )}
  </DialogButton>
);

interface DeleteProps extends Omit<ButtonProps, 'text'> {
  text?: string;
  of: string;
  /** `run task`, after the text in the dialog. */
  noun?: string;
  /** API path. */
  path: string;
  typed?: string;
  onClose(): void;
  /** The consequences. */
  children: ComponentChildren;
}

/** A button beside an entry of a list that deletes it. */
export const DeleteButton = ({ text = 'Delete', noun, path, children, ...button }: DeleteProps) => (
  <ConfirmButton
    small
    {...button}
    text={text}
    yes={[text, noun].filter(Boolean).join(' ')}
    onYes={() => call('DELETE', path)}
  >
    <p>{children}</p>
  </ConfirmButton>
);

export interface EditProps<T extends ResourceType> {
  title: string;
  submit: string;
  type: T;
  /** The resource to change; absent: creates one. */
  resource?: Resource<T> | undefined;
  /** API path that creates one. */
  collection?: string;
  /** API path of the resource. */
  path?: string;
  /** Reads the current resource, if its own path does not return all of it. */
  read?(): Promise<Resource<T>>;
  /** Values of the fields, if not just the attributes. */
  valuesOf?(resource: Resource<T>): Values;
  /** What to save, if not just the fields by their names. */
  attributesOf?(fields: Values, data: FormData, current: Resource<T> | undefined): Values;
  relationshipsOf?(data: FormData, current: Resource<T> | undefined): Relationships;
  onClose(): void;
  /** The form's fields. */
  children(current: Resource<T> | undefined): ComponentChildren;
}

/** Creates or changes a resource: fields have the names of its attributes. */
export const EditDialog = <T extends ResourceType>(props: EditProps<T>) => {
  const { title, submit, type, resource, collection = '', path = `/${type}/${resource?.id}`, onClose } = props;
  // The resource is polled; the form keeps its initial values.
  const basis = useSignal(resource);
  const current = basis.value;
  const values = current && (props.valuesOf?.(current) ?? current.attributes);
  const save = async (data: FormData, fields: Values) => {
    const attributes = props.attributesOf?.(fields, data, current) ?? fields;
    const relationships = props.relationshipsOf?.(data, current);
    if (!values) await create(collection, type, attributes, relationships);
    else await change(path, type, changed(attributes, values), { relationships, basis: current });
  };
  const reload = async () => {
    basis.value = await (props.read?.() ?? get<T>(path));
  };
  return (
    <FormDialog
      title={title}
      submit={submit}
      version={current?.etag}
      values={values}
      onSubmit={save}
      onReload={resource && reload}
      onClose={onClose}
    >
      {props.children(current)}
    </FormDialog>
  );
};
