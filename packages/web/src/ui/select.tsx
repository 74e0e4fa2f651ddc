import { ChevronDown } from 'lucide-react'
import { Button } from 'react-aria-components/Button'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select'
import { FieldLabel, FieldNotes } from './field.tsx'
import './popover.css'
import './select.css'

export interface Choice {
	readonly id: string
	readonly label: string
}

interface SelectProps {
	readonly label: string
	readonly choices: readonly Choice[]
	readonly value: string | null
	readonly onChange: (id: string) => void
	readonly onBlur?: () => void
	readonly hint?: string
	readonly error?: string | undefined
	readonly isRequired?: boolean
	readonly isDisabled?: boolean
	readonly placeholder?: string
}

/** One of a few choices. With more than ten, or ones that are searched, use a ComboBox. */
export function Select({ label, choices, value, onChange, hint, error, placeholder = 'Choose…', ...props }: SelectProps) {
	return (
		<AriaSelect
			{...props}
			value={value}
			onChange={(key) => onChange(String(key))}
			isInvalid={error !== undefined}
			validationBehavior="aria"
			placeholder={placeholder}
			className="field"
		>
			<FieldLabel label={label} isOptional={!props.isRequired} />
			<Button className="input select">
				<SelectValue className="select-value" />
				<ChevronDown size={16} aria-hidden="true" />
			</Button>
			<FieldNotes hint={hint} error={error} />
			<Popover className="popover">
				<ListBox items={choices} className="options">
					{(choice) => (
						<ListBoxItem id={choice.id} textValue={choice.label} className="option">
							{choice.label}
						</ListBoxItem>
					)}
				</ListBox>
			</Popover>
		</AriaSelect>
	)
}
