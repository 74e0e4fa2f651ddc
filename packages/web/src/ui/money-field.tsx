import { useState } from 'react'
import { Field, type FieldProps } from './field.tsx'

interface MoneyFieldProps extends Omit<FieldProps, 'value' | 'onChange' | 'children'> {
	/** In minor units, null for none; what was typed while it is no amount, so that it is neither lost nor sent. */
	readonly value: number | string | null
	readonly onChange: (value: number | string | null) => void
	readonly currency: string
	/** Text to minor units; undefined when it is no amount. */
	readonly parse: (text: string) => number | undefined
	/** The amount as it is typed. */
	readonly format: (minorUnits: number) => string
}

/** An amount of money. While it is typed the text stays; left, it shows the amount as it was understood. */
export function MoneyField({ value, onChange, currency, parse, format, error, onBlur, ...props }: MoneyFieldProps) {
	const [typed, setTyped] = useState<string>()
	const isWrong = typeof value === 'string'
	const shown = typed ?? (isWrong ? value : value === null ? '' : format(value))
	return (
		<Field
			{...props}
			value={shown}
			inputMode="decimal"
			autoComplete="off"
			suffix={currency}
			error={isWrong ? `Enter an amount such as ${format(123_450)}` : error}
			onChange={(text) => {
				setTyped(text)
				onChange(text.trim() === '' ? null : (parse(text) ?? text))
			}}
			onBlur={(event) => {
				if (!isWrong) setTyped(undefined)
				onBlur?.(event)
			}}
		/>
	)
}
