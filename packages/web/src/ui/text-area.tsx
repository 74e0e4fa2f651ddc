import { TextArea as AriaTextArea } from 'react-aria-components/TextArea'
import { Field, type FieldProps } from './field.tsx'

/** Text of several lines; it grows with its text. */
export const TextArea = ({ rows = 3, placeholder, ref, ...props }: FieldProps & { rows?: number }) => (
	<Field {...props}>
		<AriaTextArea ref={ref} rows={rows} placeholder={placeholder} className="input" />
	</Field>
)
