import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'

interface ValuesProps {
	readonly values: Readonly<Record<string, string>>
	readonly onChange: (values: Record<string, string>) => void
	readonly error: string | undefined
	readonly errorOf: (value: string) => string | undefined
}

/** A text for each value. A pair that is half typed is in this page alone. */
export function Values({ values, onChange, error, errorOf }: ValuesProps) {
	const [pairs, setPairs] = useState(() => [...Object.entries(values), ...(Object.keys(values).length > 0 ? [] : [['', '']])])
	const set = (changed: string[][]) => {
		setPairs(changed)
		onChange(Object.fromEntries(changed.filter(([from]) => from !== '')))
	}
	const change = (index: number, pair: string[]) => set(pairs.map((one, at) => (at === index ? pair : one)))
	return (
		<fieldset className="mapping-values">
			<legend className="hidden">Values</legend>
			{error && <p className="field-note field-error">{error}</p>}
			{pairs.map(([from = '', to = ''], index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: while it is typed, a value is no name.
				<div key={index} className="mapping-value">
					<Field label={`Value ${index + 1}`} autoComplete="off" value={from} onChange={(text) => change(index, [text, to])} />
					<Field
						label="Becomes"
						autoComplete="off"
						value={to}
						onChange={(text) => change(index, [from, text])}
						error={errorOf(from)}
					/>
					<Button
						look="quiet"
						aria-label={`Remove value ${index + 1}`}
						icon={<X />}
						onPress={() => set(pairs.filter((_, at) => at !== index))}
					/>
				</div>
			))}
			<div>
				<Button isSmall icon={<Plus />} onPress={() => set([...pairs, ['', '']])}>
					Add a value
				</Button>
			</div>
		</fieldset>
	)
}
