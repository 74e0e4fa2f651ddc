import type { SearchHit } from '@remit/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type KeyboardEvent, useDeferredValue, useState } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { read } from '../api/query.ts'
import { searchFailed, words } from '../format/names.ts'
import { useOpenPlaces } from './navigation.tsx'
import '../ui/dialog.css'
import '../ui/popover.css'
import './palette.css'

/** Where a record of each kind is shown; kinds without a page are not offered. */
const pageOf: Readonly<Record<string, (id: string) => string>> = {
	company: (id) => `/companies/${id}`,
	contact: (id) => `/contacts/${id}`,
	deal: (id) => `/deals/${id}`,
	time_entry: (id) => `/time/${id}/edit`,
	invoice: (id) => `/invoices/${id}`,
}

interface Entry {
	readonly id: string
	readonly path: string
	readonly title: string
	readonly note: string
	/** Whether an earlier text found it. */
	readonly isStale?: boolean
}

/** Goes anywhere: places by their name, records by the search of the server. */
export default function Palette({ onClose }: { onClose: () => void }) {
	const [text, setText] = useState('')
	const [at, setAt] = useState(0)
	const { navigate } = useRouter()
	const q = useDeferredValue(text.trim())
	const {
		data = [],
		isPlaceholderData,
		isFetching,
		isError,
	} = useQuery({
		...read('search.list', { q }),
		enabled: q !== '',
		placeholderData: keepPreviousData,
		staleTime: 5_000,
	})
	const { open, settings } = useOpenPlaces()
	const found = entriesOf(text, [...open, ...settings], q === '' ? [] : data, isPlaceholderData || q !== text.trim())
	// Places may be found all the same.
	const note = isError ? searchFailed : found.length > 0 ? undefined : isFetching ? 'Searching…' : 'Nothing is called that.'
	const chosen = Math.min(at, found.length - 1)
	const go = (entry: Entry | undefined) => {
		if (!entry) return
		onClose()
		void navigate({ to: entry.path })
	}
	const press = (event: KeyboardEvent) => {
		if (event.key === 'Enter') found[chosen]?.isStale || go(found[chosen])
		else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, found.length - 1))
		else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0))
		else return
		event.preventDefault()
	}
	return (
		<ModalOverlay isOpen isDismissable onOpenChange={(open) => open || onClose()} className="scrim palette-scrim">
			<Modal className="modal narrow">
				<AriaDialog className="dialog" aria-label="Go anywhere">
					<div className="palette-input">
						<Search size={18} aria-hidden="true" />
						<input
							// biome-ignore lint/a11y/noAutofocus: the dialog is opened to type here.
							autoFocus
							role="combobox"
							aria-expanded="true"
							aria-controls="palette-found"
							aria-activedescendant={found[chosen] ? `palette-${found[chosen].id}` : undefined}
							aria-label="Search everything"
							placeholder="Search everything…"
							value={text}
							onKeyDown={press}
							onChange={(event) => {
								setText(event.target.value)
								setAt(0)
							}}
						/>
					</div>
					<div id="palette-found" role="listbox" aria-label="Found" className="palette-found">
						{found.map((entry, index) => (
							// biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus.
							<div
								key={entry.id}
								id={`palette-${entry.id}`}
								role="option"
								tabIndex={-1}
								aria-selected={index === chosen}
								data-focused={index === chosen || undefined}
								className="option"
								onClick={() => go(entry)}
								onPointerMove={() => setAt(index)}
							>
								<span className="palette-title">{entry.title}</span>
								<span className="option-note">{entry.note}</span>
							</div>
						))}
						{note && <div className="options-empty">{note}</div>}
					</div>
				</AriaDialog>
			</Modal>
		</ModalOverlay>
	)
}

interface Place {
	readonly to: string
	readonly label: string
}

function entriesOf(text: string, places: readonly Place[], hits: readonly SearchHit[], isStale: boolean): Entry[] {
	const typed = text.trim().toLowerCase()
	const named = places.filter(({ label }) => label.toLowerCase().includes(typed))
	return [
		...named.map(({ to, label }) => ({ id: to.slice(1), path: to, title: label, note: 'Go to' })),
		...hits.flatMap(({ kind, id, title, subtitle }) => {
			const path = pageOf[kind]?.(id)
			return path ? [{ id, path, title, note: subtitle ?? words(kind), isStale }] : []
		}),
	]
}
