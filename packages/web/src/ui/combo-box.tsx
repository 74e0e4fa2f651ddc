import { ChevronDown } from 'lucide-react'
import { startTransition, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Input } from 'react-aria-components/Input'
import { chooseBeforeSave, type Match } from './choose-before-save.ts'
import { Field } from './field.tsx'
import { fetchWhenIdle, whenQuiet } from './on-first-use.tsx'
import type { Choice } from './select.tsx'
import './select.css'

export interface ComboBoxProps {
	readonly label: string
	readonly choices: readonly (Choice & { readonly note?: string })[]
	readonly value: string | null
	readonly onChange: (id: string | null) => void
	/** Of the text in the field; who gives it searches, and the choices are shown as they come. */
	readonly inputValue: string
	readonly onInputChange: (text: string) => void
	/** While the text searches. */
	readonly match?: Match | undefined
	readonly onFocus?: () => void
	readonly hint?: string | undefined
	readonly error?: string | undefined
	readonly isRequired?: boolean
	readonly placeholder?: string
	readonly emptyText?: string
}

export type Caret = readonly [start: number, end: number]

type List = typeof import('./combo-box-list.tsx').ComboBoxList

let loaded: List | undefined

const fetchList = async () => {
	loaded ??= (await import('./combo-box-list.tsx')).ComboBoxList
}
whenQuiet(() => void fetchWhenIdle(fetchList))

/**
 * One of many choices, found by typing; the server searches. Its list is more code than a whole page, and most forms are opened for
 * another field: until the page is quiet, or until it has the focus, a plain field stands in its place.
 */
export function ComboBox(props: ComboBoxProps) {
	const [List, setList] = useState(() => loaded)
	const caret = useRef<Caret>(undefined)
	/** An input method loses what it composes with its field. */
	const isComposing = useRef(false)
	const change = () => {
		if (loaded && !isComposing.current) startTransition(() => setList(() => loaded))
	}
	const [isLacking, setLacking] = useState(false)
	const load = async () => {
		// Whoever focuses the field or types once more asks again.
		await fetchList().catch(() => {})
		setLacking(!loaded)
		change()
	}
	// biome-ignore lint/correctness/useExhaustiveDependencies: once.
	useEffect(() => (loaded ? undefined : whenQuiet(load)), [])
	if (List) return <List {...props} caret={caret} />
	return (
		<PlainBox
			{...props}
			error={isLacking ? 'The choices cannot be loaded now. Type once more to try again.' : props.error}
			onUse={load}
			onComposing={(is) => {
				isComposing.current = is
				change()
			}}
			onLeave={(at) => {
				caret.current = at
			}}
		/>
	)
}

interface PlainBoxProps extends ComboBoxProps {
	readonly onUse: () => void
	readonly onComposing: (is: boolean) => void
	/** Before it goes, with the place of the caret when it has the focus. */
	readonly onLeave: (caret: Caret | undefined) => void
}

/** Looks and reads as the combo box does while its list is closed. */
function PlainBox({
	label,
	inputValue,
	onInputChange,
	match,
	onFocus,
	placeholder,
	onUse,
	onComposing,
	onLeave,
	...props
}: PlainBoxProps) {
	const input = useRef<HTMLInputElement>(null)
	const leave = useRef(onLeave)
	useLayoutEffect(() => {
		const box = input.current as HTMLInputElement
		return () => leave.current(document.activeElement === box ? [box.selectionStart ?? 0, box.selectionEnd ?? 0] : undefined)
	}, [])
	return (
		<Field
			label={label}
			hint={props.hint}
			error={props.error}
			isRequired={props.isRequired}
			value={inputValue}
			onChange={(text) => {
				onInputChange(text)
				onUse()
			}}
			onFocus={() => {
				onFocus?.()
				onUse()
			}}
		>
			<span className="input-box">
				<Input
					ref={input}
					role="combobox"
					aria-expanded={false}
					aria-autocomplete="list"
					autoComplete="off"
					autoCorrect="off"
					spellCheck={false}
					placeholder={placeholder}
					className="input"
					onCompositionStart={() => onComposing(true)}
					onCompositionEnd={() => onComposing(false)}
					onKeyDown={(event) => {
						// It chooses, and does not send the form.
						if (event.key === 'Enter') event.preventDefault()
						if (event.key === 'Tab') match?.take()
						if (match) chooseBeforeSave(event, label, match)
					}}
				/>
				<button
					type="button"
					tabIndex={-1}
					className="combo-button"
					aria-label={`Show suggestions ${label}`}
					aria-haspopup="listbox"
					aria-expanded={false}
					onClick={() => input.current?.focus()}
				>
					<ChevronDown size={16} aria-hidden="true" />
				</button>
			</span>
		</Field>
	)
}
