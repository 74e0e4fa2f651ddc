import { ChevronDown } from 'lucide-react'
import { Button } from 'react-aria-components/Button'
import { ComboBox as AriaComboBox } from 'react-aria-components/ComboBox'
import { Input } from 'react-aria-components/Input'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { FieldLabel, FieldNotes } from './field.tsx'
import type { Choice } from './select.tsx'
import './popover.css'
import './select.css'

interface ComboBoxProps {
	readonly label: string
	readonly choices: readonly (Choice & { readonly note?: string })[]
	readonly value: string | null
	readonly onChange: (id: string | null) => void
	/** Of the text in the field; who gives it searches, and the choices are shown as they come. */
	readonly inputValue: string
	readonly onInputChange: (text: string) => void
	readonly onFocus?: () => void
	readonly hint?: string
	readonly error?: string | undefined
	readonly isRequired?: boolean
	readonly placeholder?: string
	readonly emptyText?: string
}

/** One of many choices, found by typing; the server searches. */
export function ComboBox({ label, choices, value, onChange, hint, error, placeholder, emptyText, ...props }: ComboBoxProps) {
	return (
		<AriaComboBox
			{...props}
			items={choices}
			value={value}
			onChange={(key) => onChange(key === null ? null : String(key))}
			defaultFilter={() => true}
			allowsEmptyCollection
			menuTrigger="focus"
			isInvalid={error !== undefined}
			validationBehavior="aria"
			className="field"
		>
			<FieldLabel label={label} isOptional={!props.isRequired} />
			<span className="input-box">
				<Input className="input" placeholder={placeholder} />
				<Button className="combo-button">
					<ChevronDown size={16} aria-hidden="true" />
				</Button>
			</span>
			<FieldNotes hint={hint} error={error} />
			<Popover className="popover">
				<ListBox<(typeof choices)[number]>
					className="options"
					renderEmptyState={() => <div className="options-empty">{emptyText ?? 'No match'}</div>}
				>
					{(choice) => (
						<ListBoxItem id={choice.id} textValue={choice.label} className="option">
							{choice.label}
							{choice.note && <span className="option-note">{choice.note}</span>}
						</ListBoxItem>
					)}
				</ListBox>
			</Popover>
		</AriaComboBox>
	)
}
