import { ChevronDown } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, type RefObject, useContext, useEffect, useLayoutEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { ComboBox as AriaComboBox, ComboBoxStateContext } from 'react-aria-components/ComboBox'
import { Input } from 'react-aria-components/Input'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { chooseBeforeSave, type Match } from './choose-before-save.ts'
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
	match,
	caret,
	...props
}: ComboBoxListProps) {
	const input = useRef<HTMLInputElement>(null)
	// biome-ignore lint/correctness/useExhaustiveDependencies: once.
	useLayoutEffect(() => {
		if (!caret.current) {
			// The plain field was left: what was typed and not chosen goes, as it does here.
			if (match) onChange(value)
			return
		}
		input.current?.focus({ preventScroll: true })
		input.current?.setSelectionRange(...caret.current)
		caret.current = undefined
	}, [])
	return (
		<AriaComboBox
			{...props}
			items={choices}
			value={value}
			onChange={(key) => {
				// Its list may close under a field that is being typed in, as when the page scrolls; what was typed stays.
				if (match && key === value && document.activeElement === input.current) return
				onChange(key === null ? null : String(key))
			}}
			defaultFilter={() => true}
			allowsEmptyCollection
			menuTrigger="focus"
			isInvalid={error !== undefined}
			validationBehavior="aria"
			className="field"
		>
			<FieldLabel label={label} isOptional={!props.isRequired} />
			<Keys label={label} input={input} match={match} onRevert={() => onChange(value)}>
				<Input ref={input} className="input" placeholder={placeholder} />
				<Button className="combo-button">
					<ChevronDown size={16} aria-hidden="true" />
				</Button>
			</Keys>
			<FieldNotes hint={hint} error={error} />
			<Popover className="popover">
				<ListBox<(typeof choices)[number]>
					className="options"
					data-first={match?.id === undefined ? undefined : ''}
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

interface KeysProps {
	readonly label: string
	readonly input: RefObject<HTMLInputElement | null>
	readonly match: Match | undefined
	/** What was typed goes. */
	readonly onRevert: () => void
	readonly children: ReactNode
}

/** While the text searches, Enter and Tab choose the first match, as long as no other one is active. */
function Keys({ label, input, match, onRevert, children }: KeysProps) {
	const state = useContext(ComboBoxStateContext)
	const isClosing = useRef(false)
	const isFirst = state?.selectionManager.focusedKey === null && match !== undefined
	useLayoutEffect(() => {
		const box = input.current
		if (!box || !isFirst) return
		// As the box names the options. To make it active in the box would scroll the page to a list that has no place yet.
		const list = box.getAttribute('aria-controls')
		if (list && match.id !== undefined) box.setAttribute('aria-activedescendant', `${list}-option-${match.id}`)
		else box.removeAttribute('aria-activedescendant')
	})
	useEffect(() => {
		if (!isClosing.current) return
		isClosing.current = false
		state?.close()
	})
	const press = (event: KeyboardEvent) => {
		if (!match || event.nativeEvent.isComposing) return
		chooseBeforeSave(event, label, match, state?.selectionManager.focusedKey?.toString())
		const isChoosing = event.key === 'Enter' || event.key === 'Tab'
		if (isChoosing && isFirst) match.take()
		// As it was, too, where the client before is chosen again.
		else if (
			event.key === 'Escape' ||
			(isChoosing && state?.selectionManager.isSelected(state.selectionManager.focusedKey ?? ''))
		) {
			onRevert()
			// Once the box has seen the text change, which would open it.
			isClosing.current = true
		} else return
		event.stopPropagation()
		if (event.key !== 'Tab') event.preventDefault()
	}
	return (
		<span className="input-box" onKeyDownCapture={press}>
			{children}
		</span>
	)
}
