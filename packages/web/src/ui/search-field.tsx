import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import './field.css'
import './search-field.css'

interface SearchFieldProps {
	readonly label: string
	readonly value: string
	/** Called 250 ms after the last key. */
	readonly onSearch: (text: string) => void
}

/** Searches the list below; `/` leads here. The browser's own field: React Aria's would be 18 KB more in every list. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
	const [text, setText] = useState(value)
	useEffect(() => setText(value), [value])
	useEffect(() => {
		if (text === value) return
		const timer = setTimeout(() => onSearch(text), 250)
		return () => clearTimeout(timer)
	}, [text, value, onSearch])
	const input = useRef<HTMLInputElement>(null)
	const clear = () => {
		setText('')
		input.current?.focus()
	}
	return (
		<search className="search">
			<Search size={16} aria-hidden="true" />
			<input
				ref={input}
				type="search"
				className="input"
				aria-label={label}
				placeholder={label}
				value={text}
				onChange={(event) => setText(event.target.value)}
				onKeyDown={(event) => event.key === 'Escape' && clear()}
				data-list-search=""
			/>
			{text !== '' && (
				<button type="button" className="search-clear" aria-label="Clear search" onClick={clear}>
					<X size={16} aria-hidden="true" />
				</button>
			)}
		</search>
	)
}
