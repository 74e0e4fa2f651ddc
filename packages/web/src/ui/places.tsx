// What stands in the place of a part while its file is on its way, and when it cannot be had.
import { X } from 'lucide-react'
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import { type Lack, useNewVersion } from './not-loaded.tsx'
import { PageHeader } from './page-header.tsx'
import { Skeleton } from './skeleton.tsx'
import './button.css'
import './dialog.css'
import './popover.css'

/** What stands in the place of a part gets the part's props as well. */
export interface InPlaceOf {
	/** What to say when the file cannot be had; undefined while it is on its way. */
	readonly failed: ReactNode
	readonly lack: Lack | undefined
	/** Of a place that is a dialog: it is closed before the part is drawn, so that the focus is back where it was. */
	readonly dialog: RefObject<HTMLDialogElement | null>
}

export const InPlace = ({ failed }: InPlaceOf) => failed ?? <Skeleton rows={3} />

export const InNoPlace = () => null

/** It has nothing to lose yet. */
export function InPage({ failed, lack }: InPlaceOf) {
	useNewVersion(lack)
	if (!failed) return <Skeleton />
	return (
		<div className="page-error">
			<PageHeader title="Not loaded" />
			{failed}
		</div>
	)
}

/** The browser's own dialog, since every page loads it. A part without `onClose` cannot be left. */
export function InDialog({ failed, dialog, onClose }: InPlaceOf & { onClose?: () => void }) {
	useLayoutEffect(() => dialog.current?.showModal(), [dialog])
	const leave =
		onClose &&
		(() => {
			dialog.current?.close()
			onClose()
		})
	return (
		<dialog
			ref={dialog}
			className="scrim"
			aria-label={failed ? 'Not loaded' : 'Loading'}
			onCancel={(event) => {
				event.preventDefault()
				leave?.()
			}}
		>
			<div className="modal narrow">
				<div className="dialog">
					<header className="dialog-head">
						<h2>{failed ? 'Not loaded' : 'Loading…'}</h2>
						{leave && (
							<button type="button" className="button quiet icon-only small" aria-label="Close" onClick={leave}>
								<X aria-hidden="true" />
							</button>
						)}
					</header>
					<div className="dialog-body">{failed ?? <Skeleton rows={4} />}</div>
				</div>
			</div>
		</dialog>
	)
}

interface InMenuProps extends InPlaceOf {
	readonly trigger: RefObject<HTMLElement | null>
	readonly onClose: () => void
}

/** Below the button of the menu; a press beside it and Escape close it. */
export function InMenu({ failed, trigger, onClose }: InMenuProps) {
	const box = useRef<HTMLDivElement>(null)
	useLayoutEffect(() => {
		const { right = 0, bottom = 0 } = trigger.current?.getBoundingClientRect() ?? {}
		box.current?.showPopover()
		const { width = 0, height = 0 } = box.current?.getBoundingClientRect() ?? {}
		box.current?.style.setProperty('left', `${Math.max(right - width, 12)}px`)
		box.current?.style.setProperty('top', `${Math.max(Math.min(bottom + 8, innerHeight - height - 12), 12)}px`)
	}, [trigger])
	return (
		<div ref={box} popover="auto" className="popover" onToggle={({ newState }) => newState === 'closed' && onClose()}>
			{failed ?? <Skeleton rows={3} />}
		</div>
	)
}
