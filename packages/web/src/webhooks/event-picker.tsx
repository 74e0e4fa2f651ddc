import { Link } from '@tanstack/react-router'
import { usePages } from '../api/pages.ts'
import { words } from '../format/names.ts'
import { CheckBox } from '../ui/check-box.tsx'
import { Loaded } from '../ui/loaded.tsx'
import './webhooks.css'

interface EventPickerProps {
	readonly value: readonly string[]
	readonly onChange: (patterns: string[]) => void
	readonly error?: string | undefined
}

/** All events, all of a kind, or single types: as the patterns of the contract. */
export function EventPicker({ value, onChange, error }: EventPickerProps) {
	const { rows, failure } = usePages('webhooks.eventTypes.list', { limit: 100 })
	const isAll = value.includes('*')
	const toggle = (pattern: string, isOn: boolean) =>
		onChange(isOn ? [...value, pattern] : value.filter((chosen) => chosen !== pattern))
	return (
		<fieldset className="event-groups" aria-describedby={error ? 'events-error' : undefined}>
			<legend className="hidden">Events</legend>
			<div className="event-row">
				<CheckBox isSelected={isAll} onChange={(isOn) => onChange(isOn ? ['*'] : [])}>
					All events, also those of later versions
				</CheckBox>
				<Link to="/webhooks/event-types" target="_blank">
					See each
				</Link>
			</div>
			{error && (
				<p id="events-error" className="field-note field-error">
					{error}
				</p>
			)}
			{!isAll && (
				<Loaded data={rows} failure={failure} rows={4}>
					{(types) =>
						kindsOf(types.map(({ type }) => type)).map(([kind, names]) => {
							const whole = `${kind}.*`
							const isWhole = value.includes(whole)
							const chosen = isWhole ? names.length : names.filter((name) => value.includes(name)).length
							return (
								<details key={kind} className="event-group">
									<summary>
										<span>{words(kind)}</span>
										<span className="quiet-text">{chosen > 0 ? `${chosen} of ${names.length}` : names.length}</span>
									</summary>
									<div className="event-group-types">
										<CheckBox
											isSelected={isWhole}
											onChange={(isOn) =>
												onChange([...value.filter((name) => !name.startsWith(`${kind}.`)), ...(isOn ? [whole] : [])])
											}
										>
											All of {words(kind).toLowerCase()}
										</CheckBox>
										{names.map((name) => (
											<CheckBox
												key={name}
												isDisabled={isWhole}
												isSelected={isWhole || value.includes(name)}
												onChange={(isOn) => toggle(name, isOn)}
											>
												{name}
											</CheckBox>
										))}
									</div>
								</details>
							)
						})
					}
				</Loaded>
			)}
		</fieldset>
	)
}

/** The types by their kind, which is what stands before the last dot. */
function kindsOf(types: readonly string[]): [kind: string, types: string[]][] {
	const kinds = new Map<string, string[]>()
	for (const type of types.toSorted()) {
		const kind = type.slice(0, type.lastIndexOf('.'))
		kinds.set(kind, [...(kinds.get(kind) ?? []), type])
	}
	return [...kinds]
}
