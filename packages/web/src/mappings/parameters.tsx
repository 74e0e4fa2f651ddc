import type { DateFormat, FieldTransform } from '@remit/sdk'
import { Field } from '../ui/field.tsx'
import { NativeSelect } from '../ui/native-select.tsx'
import { TextArea } from '../ui/text-area.tsx'
import { dateFormats, type Parameter } from './transforms.ts'
import { Values } from './values.tsx'

interface ParameterFieldProps {
	readonly name: Parameter
	readonly transform: FieldTransform
	readonly onChange: (transform: FieldTransform) => void
	/** What is wrong at a place below the transform, such as `paths.0`. */
	readonly errorOf: (place: string) => string | undefined
}

const texts: Readonly<Partial<Record<Parameter, { label: string; hint?: string; placeholder?: string }>>> = {
	currency: { label: 'Currency of all', placeholder: 'EUR' },
	currencyPath: { label: 'Or where a record has it', placeholder: 'currency' },
	otherwise: { label: 'All other values become', hint: 'Empty: another value is an error.' },
	separator: { label: 'Text between', hint: 'A blank counts.' },
	index: { label: 'Which part, from 0', hint: 'Empty: all, as a list.' },
	length: { label: 'Characters' },
	object: { label: 'Object of the provider', placeholder: 'contacts' },
}

const numbers: readonly Parameter[] = ['index', 'length']

/** One parameter of a transform; what is empty is not sent. */
export function ParameterField({ name, transform, onChange, errorOf }: ParameterFieldProps) {
	const { [name]: value, ...rest } = transform
	const set = (given: FieldTransform[Parameter]) =>
		onChange((given === undefined ? rest : { ...rest, [name]: given }) as FieldTransform)
	const error = errorOf(name)
	if (name === 'format')
		return (
			<NativeSelect
				label="Written as"
				value={(value as string | undefined) ?? ''}
				choices={Object.entries(dateFormats).map(([id, label]) => ({ id, label }))}
				onChange={(id) => set(id as DateFormat)}
				error={error}
			/>
		)
	if (name === 'values')
		return <Values values={transform.values ?? {}} onChange={set} error={error} errorOf={(key) => errorOf(`values.${key}`)} />
	if (name === 'paths') return <Paths paths={transform.paths ?? []} onChange={set} error={error} errorOf={errorOf} />
	const { label, hint, placeholder } = texts[name] ?? { label: name }
	const isNumber = numbers.includes(name)
	return (
		<Field
			label={label}
			hint={hint}
			placeholder={placeholder}
			inputMode={isNumber ? 'numeric' : undefined}
			autoComplete="off"
			value={String(value ?? '')}
			// What is no number is sent as it was typed, so that it is refused at its place.
			onChange={(text) => set(text === '' ? undefined : isNumber && /^\d+$/.test(text) ? Number(text) : text)}
			error={error}
		/>
	)
}

interface PathsProps {
	readonly paths: readonly string[]
	readonly onChange: (paths: string[] | undefined) => void
	readonly error: string | undefined
	readonly errorOf: (place: string) => string | undefined
}

function Paths({ paths, onChange, error, errorOf }: PathsProps) {
	const wrong = paths.flatMap((_, index) => {
		const message = errorOf(`paths.${index}`)
		return message ? [`Line ${index + 1}: ${message}`] : []
	})
	return (
		<TextArea
			label="Other fields"
			hint="One path in each line"
			value={paths.join('\n')}
			onChange={(text) => onChange(text === '' ? undefined : text.split('\n'))}
			error={wrong.length > 0 ? wrong.join(' ') : error}
		/>
	)
}
