import { ChevronDown } from 'lucide-react'
import { type RefObject, useLayoutEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { ComboBox as AriaComboBox } from 'react-aria-components/ComboBox'
import { Input } from 'react-aria-components/Input'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import type { Caret, ComboBoxProps } from './combo-box.tsx'
import { FieldLabel, FieldNotes } from './field.tsx'
import './popover.css'
import './select.css'

interface ComboBoxListProps extends ComboBoxProps {
	/** Where the caret stood in the plain field that this one took the place of; undefined when it had no focus. */
	readonly caret: RefObject<Caret | undefined>
}

/** The combo box with its list. */
export function ComboBoxList({
	label,
	choices,
	value,
	onChange,
	hint,
	error,
	placeholder,
	emptyText,
	caret,
	...props
}: ComboBoxListProps) {
	const input = useRef<HTMLInputElement>(null)
	useLayoutEffect(() => {
		if (!caret.current) return
		input.current?.focus()
		input.current?.setSelectionRange(...caret.current)
		caret.current = undefined
	}, [caret])
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
				<Input ref={input} className="input" placeholder={placeholder} />
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
