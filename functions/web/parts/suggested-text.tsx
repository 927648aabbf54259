import { Field } from './form.tsx';

/** A text field that offers what may be typed; anything else may be typed as well. */
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
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </>
    )}
  </Field>
);
