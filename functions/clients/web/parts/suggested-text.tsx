import { Field } from './fields.tsx';

/** A text field with suggestions that also accepts other values. */
export const SuggestedText = ({
  label,
  name,
  placeholder,
  required,
  suggestions,
  onInput,
}: {
  label: string;
  name: string;
  placeholder?: string;
  required?: boolean;
  suggestions: readonly string[];
  onInput?(text: string): void;
}) => (
  <Field label={label} name={name}>
    {(attributes) => (
      <>
        <input
          {...attributes}
          name={name}
          placeholder={placeholder}
          required={required}
          spellcheck={false}
          autoComplete="off"
          list={`${attributes.id}-suggestions`}
          onInput={(event) => onInput?.(event.currentTarget.value)}
        />
        <datalist id={`${attributes.id}-suggestions`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      </>
    )}
  </Field>
);
