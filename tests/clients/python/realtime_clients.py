"""Transcribes live sound with clients in Python. Its input is one line: which client, the address, the key, and a file of 16-bit samples at 24,000 per second."""

import asyncio
import base64
import json
import sys

RATE_HZ = 24_000
FRAME_SAMPLES = RATE_HZ // 50


def frames(sound):
    size = FRAME_SAMPLES * 2
    return [sound[at : at + size] for at in range(0, len(sound), size)]


async def with_openai(order, sound):
    from openai import AsyncOpenAI

    client = AsyncOpenAI(
        base_url=order["url"], websocket_base_url=order["url"].replace("http", "ws"), api_key=order["key"]
    )
    transcripts = []
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as live:
        audio_input = {"format": {"type": "audio/pcm", "rate": RATE_HZ}, "transcription": {"model": "whisper-1"}}
        await live.session.update(session={"type": "transcription", "audio": {"input": audio_input}})
        for frame in frames(sound):
            await live.input_audio_buffer.append(audio=base64.b64encode(frame).decode())
        async for event in live:
            if event.type == "conversation.item.input_audio_transcription.completed":
                transcripts.append(event.transcript)
            if len(transcripts) == order["turns"]:
                return transcripts


async def with_livekit(order, sound):
    import aiohttp
    from livekit import rtc
    from livekit.agents import stt, utils
    from livekit.plugins import openai

    async with utils.http_context.open():
        engine = openai.STT(
            model=order["model"], language="en", use_realtime=True, base_url=order["url"], api_key=order["key"]
        )
        stream = engine.stream()
        for frame in frames(sound):
            stream.push_frame(rtc.AudioFrame(frame, RATE_HZ, 1, len(frame) // 2))
        transcripts = []
        async for event in stream:
            if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                transcripts.append(event.alternatives[0].text)
            if len(transcripts) == order["turns"]:
                break
        await stream.aclose()
        await engine.aclose()
        return transcripts


async def with_pipecat(order, sound):
    from pipecat.frames.frames import EndFrame, InputAudioRawFrame, TranscriptionFrame
    from pipecat.pipeline.pipeline import Pipeline
    from pipecat.pipeline.runner import PipelineRunner
    from pipecat.pipeline.task import PipelineParams, PipelineTask
    from pipecat.processors.frame_processor import FrameProcessor
    from pipecat.services.openai.stt import OpenAIRealtimeSTTService

    transcripts = []
    task = None

    class Listener(FrameProcessor):
        async def process_frame(self, frame, direction):
            await super().process_frame(frame, direction)
            if isinstance(frame, TranscriptionFrame):
                transcripts.append(frame.text)
                if len(transcripts) == order["turns"]:
                    await task.queue_frame(EndFrame())
            await self.push_frame(frame, direction)

    service = OpenAIRealtimeSTTService(
        api_key=order["key"],
        base_url=order["url"].replace("http", "ws") + "/realtime",
        turn_detection={"type": "server_vad"},
        settings=OpenAIRealtimeSTTService.Settings(model=order["model"]),
    )
    task = PipelineTask(Pipeline([service, Listener()]), params=PipelineParams(audio_in_sample_rate=RATE_HZ))
    runner = PipelineRunner(handle_sigint=False)
    running = asyncio.create_task(runner.run(task))
    while not service._session_ready:
        await asyncio.sleep(0.05)
    for frame in frames(sound):
        await task.queue_frame(InputAudioRawFrame(frame, RATE_HZ, 1))
    await running
    return transcripts


CLIENTS = {"openai": with_openai, "livekit": with_livekit, "pipecat": with_pipecat}
order = json.loads(sys.stdin.readline())
with open(order["file"], "rb") as file:
    heard = file.read()
print(json.dumps(asyncio.run(CLIENTS[order["client"]](order, heard))))
