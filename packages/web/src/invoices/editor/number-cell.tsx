import { type ComponentProps, useId, useState } from 'react'
import { isNotUnderstood } from './values.ts'

interface NumberCellProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
	readonly label: string
	/** Decimal text, '' for none, or what was not understood behind a `?`. */
	readonly value: string
	readonly onChange: (value: string) => void
	/** Of an empty cell. */
	readonly empty: string
	readonly parse: (text: string) => string | undefined
	readonly format: (decimal: string) => string
	readonly error: string | undefined
	readonly example: string
}

/** A number in a row of lines. While it is typed the text stays; left, it shows the number as it was understood. */
export function NumberCell({ label, value, onChange, empty, parse, format, error, example, onBlur, ...props }: NumberCellProps) {
	const [typed, setTyped] = useState<string>()
	const id = useId()
	const isWrong = isNotUnderstood(value)
	const wrong = error ?? (isWrong && typed === undefined ? `Enter a number such as ${example}` : undefined)
	return (
		<span className="cell">
			<input
				{...props}
				className="input number"
				aria-label={label}
				aria-invalid={wrong !== undefined}
				aria-describedby={wrong === undefined ? undefined : id}
				data-invalid={wrong === undefined ? undefined : ''}
				inputMode="decimal"
				autoComplete="off"
				value={typed ?? (isWrong ? value.slice(1) : value === '' ? '' : format(value))}
				onChange={({ target: { value: text } }) => {
					setTyped(text)
					onChange(text.trim() === '' ? empty : (parse(text) ?? `?${text}`))
				}}
				onBlur={(event) => {
					setTyped(undefined)
					onBlur?.(event)
				}}
			/>
			{wrong && (
				<span id={id} className="field-note field-error">
					{wrong}
				</span>
			)}
		</span>
	)
}
