/** Opens the microphone. `hear` is given its samples, of 16 bits and one channel, and how loud they are. Rejects where there is none or it is not allowed. */
export async function openMicrophone(hear) {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false },
  });
  const context = new AudioContext();
  try {
    await context.audioWorklet.addModule("/demo/microphone-worklet.js");
    const node = new AudioWorkletNode(context, "microphone", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
    });
    node.port.addEventListener("message", ({ data }) => hear(data.samples, data.loudest));
    node.port.start();
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
  } catch (error) {
    close(stream, context);
    throw error;
  }
  return { sampleRate: context.sampleRate, close: () => close(stream, context) };
}

function close(stream, context) {
  for (const track of stream.getTracks()) track.stop();
  if (context.state !== "closed") void context.close();
}
